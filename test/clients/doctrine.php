<?php
// Doctrine.
require 'Doctrine/ORM/autoload.php';
require 'Symfony/Component/Cache/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Types\Types;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\EntityManagerInterface;
use Doctrine\ORM\Id\AbstractIdGenerator;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\ORMSetup;
use Doctrine\ORM\Query\AST\Functions\FunctionNode;
use Doctrine\ORM\Tools\SchemaTool;

$steps = 0;
function step($good, $name, $got)
{
	global $steps;
	echo ($good ? 'ok ' : 'not ok ') . ++$steps . " - $name\n";
	if (!$good)
		echo '# got: ' . json_encode($got) . "\n";
}

// the table
#[ORM\Entity]
#[ORM\Table(name: 'orders')]
class Order
{
	#[ORM\Id]
	#[ORM\Column(type: 'guid', columnDefinition: 'uuid DEFAULT uuidv7_next() NOT NULL',
		options: ['default' => 'uuidv7_next()'])]
	#[ORM\GeneratedValue(strategy: 'CUSTOM')]
	#[ORM\CustomIdGenerator(class: UuidV7Next::class)]
	public string $id;

	public function __construct(#[ORM\Column(type: 'text')] public string $item)
	{
	}
}

class UuidV7Next extends AbstractIdGenerator
{
	public function generateId(EntityManagerInterface $em, $entity): string
	{
		return $em->getConnection()->fetchOne('SELECT uuidv7_next()');
	}
}

$connection = DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'), 'port' => (int) getenv('PGPORT'),
	'user' => getenv('PGUSER'), 'password' => getenv('PGPASSWORD'), 'dbname' => getenv('PGDATABASE')]);
$em = new EntityManager($connection, ORMSetup::createAttributeMetadataConfiguration([__DIR__], true));
$tool = new SchemaTool($em);
$tables = [$em->getClassMetadata(Order::class)];
$tool->updateSchema($tables);
$again = $tool->getUpdateSchemaSql($tables);
step($again === [], 'a second migration proposes no change', $again);

// insert
$order = new Order('tea');
$em->wrapInTransaction(fn () => $em->persist($order));
step($order->id[14] === '7', 'insert gives the id back', $order->id);

// bulk insert
$bulk = array_map(fn ($n) => new Order("bulk $n"), range(0, 99));
$em->wrapInTransaction(fn () => array_walk($bulk, fn ($row) => $em->persist($row)));
$bulk = array_map(fn ($row) => $row->id, $bulk);
$sorted = $bulk;
sort($sorted, SORT_STRING);
step($sorted === $bulk, 'bulk insert gives rising ids', $bulk);

// a period
$connection->executeQuery('SELECT test.a_week_of_orders()');
$from = new DateTimeImmutable('2026-03-02T09:00Z');
$to = new DateTimeImmutable('2026-03-02T10:00Z');
$period = [[$from, $to], [Types::DATETIMETZ_IMMUTABLE, Types::DATETIMETZ_IMMUTABLE]];
$hour = $connection->fetchAllAssociative('SELECT * FROM orders WHERE id <@ tstzrange(?, ?)', ...$period);
step(count($hour) === 60, 'an hour by two times', count($hour));
$plan = implode("\n", $connection->fetchFirstColumn('EXPLAIN SELECT * FROM orders WHERE id <@ tstzrange(?, ?)', ...$period));
step(preg_match('/Index (Only )?Scan|Bitmap Index Scan/', $plan) === 1, 'by the index', $plan);

// reading on
$next = 'SELECT id FROM orders WHERE id > ? AND id < uuidv7_horizon() ORDER BY id LIMIT 30';
for ($read = [], $last = $order->id; ($page = $connection->fetchFirstColumn($next, [$last])) !== []; $last = end($page))
	array_push($read, ...$page);
step($read === $bulk, 'reading on from the last id', $read);

echo "1..$steps\n";
