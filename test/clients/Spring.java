// Test of JdbcTemplate (Spring, Java).
import java.time.*;
import java.util.*;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

class Spring {
	static int steps = 0;

	static void step(boolean good, String name, Object got) {
		System.out.println((good ? "ok " : "not ok ") + ++steps + " - " + name);
		if (!good)
			System.out.println("# got: " + got);
	}

	static List<UUID> allPages(JdbcTemplate db, String sql, UUID last) {
		var read = new ArrayList<UUID>();

		for (List<UUID> ids; !(ids = db.queryForList(sql, UUID.class, last)).isEmpty(); last = ids.get(ids.size() - 1))
			read.addAll(ids);
		return read;
	}

	public static void main(String[] args) {
		var env = System.getenv();
		var source = new SingleConnectionDataSource("jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE"),
			env.get("PGUSER"), env.get("PGPASSWORD"), true);
		var db = new JdbcTemplate(source);

		// create the tables
		db.execute("CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)");
		db.execute("CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), message text NOT NULL)");

		// insert a row
		var order = db.queryForObject("INSERT INTO orders (item) VALUES (?) RETURNING id", UUID.class, "tea");
		step(order.version() == 7, "insert returns the ID", order);

		// insert many rows
		var bulk = db.queryForList("INSERT INTO orders (item) SELECT 'bulk ' || n FROM generate_series(1, 100) AS n RETURNING id", UUID.class);
		step(bulk.size() == 100 && bulk.stream().allMatch((id) -> id.version() == 7), "bulk insert returns the IDs", bulk);

		// select the rows of a period
		db.execute("SELECT test.a_week_of_orders()");
		var from = OffsetDateTime.parse("2026-03-02T09:00Z");
		var period = "SELECT id FROM orders WHERE id <@ tstzrange(?, ?)";
		var keysetPage = "SELECT id FROM orders WHERE id > ? ORDER BY id LIMIT 30";
		var incrementalRead = "SELECT id FROM outbox WHERE id > ? AND id < uuidv7_horizon() ORDER BY id LIMIT 30";

		var hour = db.queryForList(period, UUID.class, from, from.plusHours(1));
		step(hour.size() == 60, "period of two OffsetDateTime finds an hour", hour.size());
		var plan = db.queryForList("EXPLAIN " + period, String.class, from, from.plusHours(1));
		step(plan.toString().matches(".*(Index (Only )?Scan|Bitmap Index Scan).*"), "period uses the index", plan);

		// read in keyset pages
		var pages = allPages(db, keysetPage, order);
		step(pages.equals(bulk), "keyset pages continue after the last ID", pages);

		// read incrementally
		var first = db.queryForObject("INSERT INTO outbox (message) VALUES ('first') RETURNING id", UUID.class);
		var sent = db.queryForList("INSERT INTO outbox (message) SELECT 'bulk ' || n FROM generate_series(1, 100) AS n RETURNING id", UUID.class);
		var read = allPages(db, incrementalRead, first);
		step(read.equals(sent), "incremental read finds the new rows", read);

		source.destroy();
		System.out.println("1.." + steps);
	}
}
