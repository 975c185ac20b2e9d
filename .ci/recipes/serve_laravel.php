<?php
// Serves a routes file of Laravel as the framework would, without its skeleton: php -S ADDRESS serve_laravel.php
// with the file in ROUTES.

declare(strict_types=1);

// These components are older than the PHP that runs them.
error_reporting(E_ALL & ~E_DEPRECATED);

use Illuminate\Container\Container;
use Illuminate\Database\Capsule\Manager;
use Illuminate\Events\Dispatcher;
use Illuminate\Http\Request;
use Illuminate\Routing\Router;
use Illuminate\Support\Facades\Facade;

foreach (['Container', 'Events', 'Http', 'Routing', 'Database', 'Support'] as $component) {
    require_once "Illuminate/$component/autoload.php";
}

$app = new Container();
Container::setInstance($app);
$app->instance('router', new Router(new Dispatcher($app), $app));
touch(getenv('DATABASE'));
$database = new Manager($app);
$database->addConnection(['driver' => 'sqlite', 'database' => getenv('DATABASE')]);
$app->instance('db', $database->getDatabaseManager());
Facade::setFacadeApplication($app);

$connection = $database->getConnection();
$connection->statement('CREATE TABLE IF NOT EXISTS webhook_events (event_id TEXT PRIMARY KEY)');

require getenv('ROUTES');
$app->instance(Request::class, Request::capture());
$app['router']->dispatch($app[Request::class])->send();
