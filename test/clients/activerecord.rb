# Test of ActiveRecord (Ruby on Rails).
require 'active_record'
require 'tmpdir'

$steps = 0
def step(good, name, got = nil)
  puts "#{good ? 'ok' : 'not ok'} #{$steps += 1} - #{name}"
  puts "# got: #{got}" unless good
end

ActiveRecord::Base.establish_connection(
  adapter: 'postgresql', host: ENV['PGHOST'], port: ENV['PGPORT'], username: ENV['PGUSER'],
  password: ENV['PGPASSWORD'], database: ENV['PGDATABASE'])

# create the table
class CreateOrders < ActiveRecord::Migration[6.1]
  def change
    create_table :orders, id: :uuid, default: 'uuidv7_next()' do |t|
      t.text :item, null: false
    end
  end
end

class Order < ActiveRecord::Base
end

ActiveRecord::Migration.verbose = false
CreateOrders.migrate(:up)
def dump_schema
  base = ActiveRecord::Base
  dump = StringIO.new
  ActiveRecord::SchemaDumper.dump(ActiveRecord.version < Gem::Version.new('7.2') ? base.connection : base.connection_pool, dump)
  dump.string
end
schema = dump_schema
step(schema.include?('create_table "orders", id: :uuid, default: -> { "uuidv7_next()" }'), 'the dumped schema has the default', schema)

# dump a check constraint that calls a function
ActiveRecord::Base.connection.execute('ALTER TABLE orders ADD CHECK (uuid_is_v7(id))')
check = dump_schema[/check_constraint [^,]+/]
if ActiveRecord.version < Gem::Version.new('7')
  step(check == 'check_constraint nil', 'the dumped schema loses a check constraint', check)
else
  step(check == 'check_constraint "uuid_is_v7(id)"', 'the dumped schema has the check constraint', check)
end

ActiveRecord::Base.connection.execute('ALTER TABLE orders ADD CONSTRAINT orders_v7 CHECK (uuid_is_v7(id) AND id IS NOT NULL)')
check = dump_schema[/check_constraint "uuid_is_v7\(id\) AND [^,]+/]
step(check =~ /\Acheck_constraint "uuid_is_v7\(id\) AND \(?id IS NOT NULL\)?"\z/, 'the dumped schema has a check constraint of two conditions', check)

# insert a row
order = Order.create!(item: 'tea')
step(order.id =~ /\A\h{8}-\h{4}-7/, 'insert returns the ID', order.id)

# insert many rows
bulk = Order.insert_all(100.times.map { |n| { item: "bulk #{n}" } }, returning: :id).rows.flatten
step(bulk.length == 100 && bulk.sort == bulk, 'bulk insert returns ascending IDs', bulk)

# select the rows of a period
ActiveRecord::Base.connection.execute('SELECT test.a_week_of_orders()')
from, to = Time.utc(2026, 3, 2, 9), Time.utc(2026, 3, 2, 10)
period = Order.where('orders.id <@ tstzrange(?, ?)', from, to)
step(period.to_a.length == 60, 'period of two times finds an hour', period.to_a.length)
plan = period.explain.inspect
step(plan =~ /Index (Only )?Scan|Bitmap Index Scan/, 'period uses the index', plan)
joined = period.joins('JOIN orders AS others ON others.id = orders.id')
step(joined.to_a.length == 60, 'period works in a join', joined.to_a.length)

puts "1..#{$steps}"
