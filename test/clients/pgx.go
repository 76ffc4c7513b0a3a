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

	// create the table
	_, err = db.Exec(ctx, "CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)")
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
	hour := column(period, from, from.Add(time.Hour))
	step(len(hour) == 60, "period of two times finds an hour", len(hour))
	plan := strings.Join(column("EXPLAIN "+period, from, from.Add(time.Hour)), "\n")
	step(regexp.MustCompile("Index (Only )?Scan|Bitmap Index Scan").MatchString(plan), "period uses the index", plan)

	fmt.Printf("1..%d\n", steps)
}
