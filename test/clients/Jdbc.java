// Test of JDBC (Java), and of JdbcTemplate (Spring).
import java.sql.*;
import java.time.*;
import java.util.*;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

class Jdbc {
	static int steps = 0;

	static void step(boolean good, String name, Object got) {
		System.out.println((good ? "ok " : "not ok ") + ++steps + " - " + name);
		if (!good)
			System.out.println("# got: " + got);
	}

	static List<String> column(ResultSet rows) throws SQLException {
		var values = new ArrayList<String>();

		while (rows.next())
			values.add(rows.getString(1));
		return values;
	}

	public static void main(String[] args) throws SQLException {
		var env = System.getenv();
		var db = DriverManager.getConnection("jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE"),
			env.get("PGUSER"), env.get("PGPASSWORD"));
		var sql = db.createStatement();

		// create the table
		sql.execute("CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)");

		// insert a row
		var insert = db.prepareStatement("INSERT INTO orders (item) VALUES (?)", new String[] {"id"});
		insert.setString(1, "tea");
		insert.executeUpdate();
		var keys = insert.getGeneratedKeys();
		keys.next();
		var order = keys.getObject("id", UUID.class);
		step(order.version() == 7, "insert returns the ID", order);

		// insert many rows
		for (int n = 0; n < 100; n++) {
			insert.setString(1, "bulk " + n);
			insert.addBatch();
		}
		insert.executeBatch();
		var bulk = column(insert.getGeneratedKeys());
		step(bulk.size() == 100 && bulk.equals(new ArrayList<>(new TreeSet<>(bulk))), "bulk insert returns ascending IDs", bulk);

		// select the rows of a period
		sql.execute("SELECT test.a_week_of_orders()");
		var from = Instant.parse("2026-03-02T09:00:00Z").atOffset(ZoneOffset.UTC);
		var period = db.prepareStatement("SELECT id, item FROM orders WHERE id <@ tstzrange(?, ?)");
		period.setObject(1, from);
		period.setObject(2, from.plusHours(1));
		var hour = column(period.executeQuery());
		step(hour.size() == 60, "period of two OffsetDateTime finds an hour", hour.size());
		var explain = db.prepareStatement("EXPLAIN SELECT id, item FROM orders WHERE id <@ tstzrange(?, ?)");
		explain.setObject(1, from);
		explain.setObject(2, from.plusHours(1));
		var plan = column(explain.executeQuery());
		step(plan.toString().matches(".*(Index (Only )?Scan|Bitmap Index Scan).*"), "period uses the index", plan);

		// pass a time of type java.time.Instant
		try {
			period.setObject(1, from.toInstant());
			step(false, "an Instant is refused", "no error");
		} catch (SQLException e) {
			step(e.getMessage().startsWith("Can't infer the SQL type to use for an instance of java.time.Instant"), "an Instant is refused", e);
		}

		// pass an ID
		var later = db.prepareStatement("SELECT id FROM orders WHERE id > ? ORDER BY id");
		later.setObject(1, order);
		step(column(later.executeQuery()).equals(bulk), "a query for later IDs finds the rows", order);

		// pass a period as text
		var text = db.prepareStatement("SELECT id, item FROM orders WHERE id <@ ?");
		text.setString(1, "[2026-03-02 09:00Z,2026-03-02 10:00Z)");
		try {
			text.executeQuery();
			step(false, "a period as text is refused", "no error");
		} catch (SQLException e) {
			step(e.getMessage().startsWith("ERROR: operator does not exist: uuid <@ character varying"), "a period as text is refused", e);
		}
		text = db.prepareStatement("SELECT id, item FROM orders WHERE id <@ ?::tstzrange");
		text.setString(1, "[2026-03-02 09:00Z,2026-03-02 10:00Z)");
		hour = column(text.executeQuery());
		step(hour.size() == 60, "with a cast, the text is a period", hour.size());

		// Spring's JdbcTemplate
		var template = new JdbcTemplate(new SingleConnectionDataSource(db, true));
		order = template.queryForObject("INSERT INTO orders (item) VALUES (?) RETURNING id", UUID.class, "milk");
		step(order.version() == 7, "JdbcTemplate: insert returns the ID", order);
		var rows = template.queryForList("SELECT id FROM orders WHERE id <@ tstzrange(?, ?)", UUID.class, from, from.plusHours(1));
		step(rows.size() == 60, "JdbcTemplate: period of two OffsetDateTime finds an hour", rows.size());

		db.close();
		System.out.println("1.." + steps);
	}
}
