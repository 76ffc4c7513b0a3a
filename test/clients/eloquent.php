<?php
// Test of Eloquent (Laravel).
require 'Illuminate/Database/autoload.php';

use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Eloquent\Model;

$steps = 0;
function step($good, $name, $got)
{
	global $steps;
	echo ($good ? 'ok ' : 'not ok ') . ++$steps . " - $name\n";
	if (!$good)
		echo '# got: ' . json_encode($got) . "\n";
}

$db = new DB();
$db->addConnection(['driver' => 'pgsql', 'host' => getenv('PGHOST'), 'port' => getenv('PGPORT'), 'username' => getenv('PGUSER'),
	'password' => getenv('PGPASSWORD'), 'database' => getenv('PGDATABASE'), 'charset' => 'utf8']);
$db->setAsGlobal();
$db->bootEloquent();

// create the tables
DB::schema()->create('orders', function ($table) {
	$table->uuid('id')->primary()->default(DB::raw('uuidv7_next()'));
	$table->text('item');
});
DB::schema()->create('outbox', function ($table) {
	$table->uuid('id')->primary()->default(DB::raw('uuidv7_ordered()'));
	$table->text('message');
});

class Order extends Model
{
	protected $keyType = 'string';
	protected $guarded = [];
	public $timestamps = false;
}

class Outbox extends Model
{
	protected $table = 'outbox';
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
$keysetPage = fn ($last) => Order::where('id', '>', $last)->orderBy('id')->limit(30);
$incrementalRead = fn ($last) => Outbox::where('id', '>', $last)->whereRaw('id < uuidv7_horizon()')->orderBy('id')->limit(30);

step($period->count() === 60, 'period of two times finds an hour', $period->count());
$moved = Order::whereRaw('orders.id <@ tstzrange(?, ?)', [$from, $to])->orderBy('id')->first();
step($moved->id !== $period->orderBy('id')->first()->id, 'a DateTime loses its time zone', $moved->id);
$plan = json_encode(DB::select('EXPLAIN ' . $period->toSql(), $period->getBindings()));
step(preg_match('/Index (Only )?Scan|Bitmap Index Scan/', $plan) === 1, 'period uses the index', $plan);

// Return the IDs of all pages after an ID.
function all_pages(callable $page, string $last): array
{
	for ($read = []; ($ids = $page($last)->pluck('id')->all()) !== []; $last = end($ids))
		array_push($read, ...$ids);
	return $read;
}

// read in keyset pages
$pages = all_pages($keysetPage, $order->id);
step($pages === $bulk, 'keyset pages continue after the last ID', $pages);

// read incrementally
$first = Outbox::create(['message' => 'first']);
$sent = array_map(fn ($n) => Outbox::create(['message' => "bulk $n"])->id, range(0, 99));
$read = all_pages($incrementalRead, $first->id);
step($read === $sent, 'incremental read finds the new rows', $read);

echo "1..$steps\n";
