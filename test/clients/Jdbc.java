// JDBC, of Java.
import java.sql.*;
import java.time.*;
import java.util.*;

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

		// the table
		sql.execute("CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)");

		// insert
		var insert = db.prepareStatement("INSERT INTO orders (item) VALUES (?)", new String[] {"id"});
		insert.setString(1, "tea");
		insert.executeUpdate();
		var keys = insert.getGeneratedKeys();
		keys.next();
		var order = keys.getObject("id", UUID.class);
		step(order.version() == 7, "insert gives the id back", order);

		// bulk insert
		for (int n = 0; n < 100; n++) {
			insert.setString(1, "bulk " + n);
			insert.addBatch();
		}
		insert.executeBatch();
		var bulk = column(insert.getGeneratedKeys());
		step(bulk.size() == 100 && bulk.equals(new ArrayList<>(new TreeSet<>(bulk))), "bulk insert gives rising ids", bulk);

		// a period
		sql.execute("SELECT test.a_week_of_orders()");
		var from = OffsetDateTime.parse("2026-03-02T09:00Z");
		var period = db.prepareStatement("SELECT id, item FROM orders WHERE id <@ tstzrange(?, ?)");
		period.setObject(1, from);
		period.setObject(2, from.plusHours(1));
		var hour = column(period.executeQuery());
		step(hour.size() == 60, "an hour by two OffsetDateTime", hour.size());
		var explain = db.prepareStatement("EXPLAIN SELECT id, item FROM orders WHERE id <@ tstzrange(?, ?)");
		explain.setObject(1, from);
		explain.setObject(2, from.plusHours(1));
		var plan = column(explain.executeQuery());
		step(plan.toString().matches(".*(Index (Only )?Scan|Bitmap Index Scan).*"), "by the index", plan);

		// reading on
		var read = new ArrayList<String>();
		var next = db.prepareStatement("SELECT id FROM orders WHERE id > ? AND id < uuidv7_horizon() ORDER BY id LIMIT 30");
		next.setObject(1, order);
		for (List<String> page; !(page = column(next.executeQuery())).isEmpty(); next.setObject(1, UUID.fromString(page.get(page.size() - 1))))
			read.addAll(page);
		step(read.equals(bulk), "reading on from the last id", read);

		// a period as text
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
		step(hour.size() == 60, "and taken where it is cast", hour.size());

		db.close();
		System.out.println("1.." + steps);
	}
}
