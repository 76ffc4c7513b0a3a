# ActiveRecord, of Ruby on Rails.
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

# the table
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
dump = StringIO.new
base = ActiveRecord::Base
ActiveRecord::SchemaDumper.dump(ActiveRecord.version < Gem::Version.new('7.2') ? base.connection : base.connection_pool, dump)
step(dump.string.include?('create_table "orders", id: :uuid, default: -> { "uuidv7_next()" }'),
  'the dumped schema has the default', dump.string)

# insert
order = Order.create!(item: 'tea')
step(order.id =~ /\A\h{8}-\h{4}-7/, 'insert gives the id back', order.id)

# bulk insert
bulk = Order.insert_all(100.times.map { |n| { item: "bulk #{n}" } }, returning: :id).rows.flatten
step(bulk.length == 100 && bulk.sort == bulk, 'bulk insert gives rising ids', bulk)

# a period
ActiveRecord::Base.connection.execute('SELECT test.a_week_of_orders()')
from, to = Time.utc(2026, 3, 2, 9), Time.utc(2026, 3, 2, 10)
hour = Order.where('id <@ tstzrange(?, ?)', from, to)
step(hour.to_a.length == 60, 'an hour by two times', hour.to_a.length)
plan = hour.explain.inspect
step(plan =~ /Index (Only )?Scan|Bitmap Index Scan/, 'by the index', plan)

# reading on
read = []
last = order.id
settled = Order.where('id < uuidv7_horizon()').order(:id).limit(30)
until (page = settled.where('id > ?', last).ids).empty?
  read += page
  last = page.last
end
step(read == bulk, 'reading on from the last id', read)

puts "1..#{$steps}"
