<?php
// Test of Doctrine.
require 'steps.php';
require 'Doctrine/ORM/autoload.php';
require 'Symfony/Component/Cache/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Types\Types;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\EntityManagerInterface;
use Doctrine\ORM\Id\AbstractIdGenerator;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\ORMSetup;
use Doctrine\ORM\Tools\SchemaTool;

// create the table
#[ORM\Entity]
#[ORM\Table(name: 'orders')]
class Order
{
	#[ORM\Id]
	#[ORM\Column(type: 'guid', columnDefinition: 'uuid DEFAULT uuidv7_ordered() NOT NULL',
		options: ['default' => 'uuidv7_ordered()'])]
	#[ORM\GeneratedValue(strategy: 'CUSTOM')]
	#[ORM\CustomIdGenerator(class: UuidV7Ordered::class)]
	public string $id;

	public function __construct(#[ORM\Column(type: 'text')] public string $item)
	{
	}
}

class UuidV7Ordered extends AbstractIdGenerator
{
	public function generateId(EntityManagerInterface $em, $entity): string
	{
		if (!$em->getConnection()->isTransactionActive())
			throw new LogicException('persist the object in the transaction that inserts it');
		return $em->getConnection()->fetchOne('SELECT uuidv7_ordered()');
	}
}

$connection = DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'), 'port' => (int) getenv('PGPORT'),
	'user' => getenv('PGUSER'), 'password' => getenv('PGPASSWORD'), 'dbname' => getenv('PGDATABASE')]);
$em = new EntityManager($connection, ORMSetup::createAttributeMetadataConfiguration([__DIR__], true));
$tool = new SchemaTool($em);
$tables = [$em->getClassMetadata(Order::class)];
$tool->updateSchema($tables);
$again = $tool->getUpdateSchemaSql($tables);
step($again === [], 'a second migration changes nothing', $again);

// insert rows
$bulk = $em->wrapInTransaction(function () use ($em) {
	$bulk = array_map(fn ($n) => new Order("bulk $n"), range(0, 99));
	array_walk($bulk, fn ($row) => $em->persist($row));
	return array_map(fn ($row) => $row->id, $bulk);
});
$read = $connection->fetchFirstColumn('SELECT id FROM orders WHERE id < uuidv7_horizon() ORDER BY id');
step(count($bulk) === 100 && $read === $bulk, 'the objects have the ordered IDs', $read);
try {
	$em->persist(new Order('early'));
	step(false, 'an ordered ID is refused outside a transaction', 'no error');
} catch (LogicException $e) {
	step(true, 'an ordered ID is refused outside a transaction', null);
}

// select the rows of a period
$connection->executeQuery('SELECT test.a_week_of_orders()');
$from = new DateTimeImmutable('2026-03-02T09:00Z');
$to = new DateTimeImmutable('2026-03-02T10:00Z');
$period = 'SELECT * FROM orders WHERE id <@ tstzrange(?, ?)';
$times = [Types::DATETIMETZ_IMMUTABLE, Types::DATETIMETZ_IMMUTABLE];
$hour = $connection->fetchAllAssociative($period, [$from, $to], $times);
step(count($hour) === 60, 'period of two times finds an hour', count($hour));
$plan = implode("\n", $connection->fetchFirstColumn("EXPLAIN $period", [$from, $to], $times));
step(preg_match('/Index (Only )?Scan|Bitmap Index Scan/', $plan) === 1, 'period uses the index', $plan);

echo "1..$steps\n";
