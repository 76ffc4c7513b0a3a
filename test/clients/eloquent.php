<?php
// Test of Eloquent (Laravel).
require 'steps.php';
require 'Illuminate/Database/autoload.php';

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Eloquent\Model;

$db = new DB();
$db->addConnection(['driver' => 'pgsql', 'host' => getenv('PGHOST'), 'port' => getenv('PGPORT'), 'username' => getenv('PGUSER'),
	'password' => getenv('PGPASSWORD'), 'database' => getenv('PGDATABASE'), 'charset' => 'utf8']);
$db->setAsGlobal();
$db->bootEloquent();

// create the table
DB::schema()->create('orders', function ($table) {
	$table->uuid('id')->primary()->default(DB::raw('uuidv7_next()'));
	$table->text('item');
});

class Order extends Model
{
	protected $keyType = 'string';
	protected $guarded = [];
	public $timestamps = false;
}

// insert a row
$order = Order::create(['item' => 'tea']);
step($order->id[14] === '7', 'insert returns the ID', $order->id);

// insert many rows
Order::insert(array_map(fn ($n) => ['item' => "bulk $n"], range(0, 99)));
$bulk = Order::where('item', 'like', 'bulk %')->orderByRaw('substr(item, 6)::int')->pluck('id')->all();
$sorted = $bulk;
sort($sorted, SORT_STRING);
step(count($bulk) === 100 && $sorted === $bulk, 'bulk insert generates ascending IDs', $bulk);

// select the rows of a period
DB::select('SELECT test.a_week_of_orders()');
$from = new DateTimeImmutable('2026-03-02T10:00+01:00');
$to = new DateTimeImmutable('2026-03-02T11:00+01:00');
$period = Order::whereRaw('orders.id <@ tstzrange(?, ?)', [$from->format('c'), $to->format('c')]);
step($period->count() === 60, 'period of two times finds an hour', $period->count());
$moved = Order::whereRaw('orders.id <@ tstzrange(?, ?)', [$from, $to])->orderBy('id')->first();
step($moved->id !== $period->orderBy('id')->first()->id, 'a DateTime loses its time zone', $moved->id);
$plan = json_encode(DB::select('EXPLAIN ' . $period->toSql(), $period->getBindings()));
step(preg_match('/Index (Only )?Scan|Bitmap Index Scan/', $plan) === 1, 'period uses the index', $plan);

echo "1..$steps\n";
