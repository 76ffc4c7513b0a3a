// Test of pgx (Go).
package main

import (
	"context"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

var steps = 0

func step(good bool, name string, got interface{}) {
	steps++
	if good {
		fmt.Printf("ok %d - %s\n", steps, name)
	} else {
		fmt.Printf("not ok %d - %s\n# got: %v\n", steps, name, got)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, "")
	must(err)
	column := func(sql string, args ...interface{}) (values []string) {
		rows, err := db.Query(ctx, sql, args...)
		must(err)
		for rows.Next() {
			var value string
			must(rows.Scan(&value))
			values = append(values, value)
		}
		must(rows.Err())
		return values
	}

	// create the tables
	_, err = db.Exec(ctx, "CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)")
	must(err)
	_, err = db.Exec(ctx, "CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), message text NOT NULL)")
	must(err)

	// insert a row
	var order string
	err = db.QueryRow(ctx, "INSERT INTO orders (item) VALUES ($1) RETURNING id", "tea").Scan(&order)
	must(err)
	step(order[14] == '7', "insert returns the ID", order)

	// insert many rows
	var items [][]interface{}
	for n := 0; n < 100; n++ {
		items = append(items, []interface{}{fmt.Sprint("bulk ", n)})
	}
	_, err = db.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"item"}, pgx.CopyFromRows(items))
	must(err)
	bulk := column("SELECT id FROM orders WHERE id > $1 ORDER BY substr(item, 6)::int", order)
	step(len(bulk) == 100 && sort.StringsAreSorted(bulk), "CopyFrom generates ascending IDs", bulk)

	// select the rows of a period
	column("SELECT 'made' FROM test.a_week_of_orders()")
	from := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	period := "SELECT id FROM orders WHERE id <@ tstzrange($1, $2)"
	keysetPage := "SELECT id FROM orders WHERE id > $1 ORDER BY id LIMIT 30"
	incrementalRead := "SELECT id FROM outbox WHERE id > $1 AND id < uuidv7_horizon() ORDER BY id LIMIT 30"

	hour := column(period, from, from.Add(time.Hour))
	step(len(hour) == 60, "period of two times finds an hour", len(hour))
	plan := strings.Join(column("EXPLAIN "+period, from, from.Add(time.Hour)), "\n")
	step(regexp.MustCompile("Index (Only )?Scan|Bitmap Index Scan").MatchString(plan), "period uses the index", plan)

	allPages := func(sql string, last string) (read []string) {
		for ids := column(sql, last); len(ids) > 0; ids = column(sql, ids[len(ids)-1]) {
			read = append(read, ids...)
		}
		return read
	}

	// read in keyset pages
	pages := allPages(keysetPage, order)
	step(strings.Join(pages, " ") == strings.Join(bulk, " "), "keyset pages continue after the last ID", pages)

	// read incrementally
	var first string
	must(db.QueryRow(ctx, "INSERT INTO outbox (message) VALUES ('first') RETURNING id").Scan(&first))
	_, err = db.CopyFrom(ctx, pgx.Identifier{"outbox"}, []string{"message"}, pgx.CopyFromRows(items))
	must(err)
	sent := column("SELECT id FROM outbox WHERE id > $1 ORDER BY substr(message, 6)::int", first)
	read := allPages(incrementalRead, first)
	step(strings.Join(read, " ") == strings.Join(sent, " "), "incremental read finds the new rows", read)

	fmt.Printf("1..%d\n", steps)
}
