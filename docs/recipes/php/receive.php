<?php
// Receives webhooks, with the signing secret in WEBHOOK_SECRET and the SQLite file that stores them in DATABASE:
// php -S 127.0.0.1:PORT receive.php

declare(strict_types=1);

require __DIR__ . '/verify.php';

const MAX_BODY = 1024 * 1024;

function apply(PDO $database, array $event): void
{
    // Types that this program does not know are acknowledged, too.
    if (preg_match('/^(pre_authorization|anticipation)\./', $event['type'])) {
        // Events may arrive out of order. Where that matters, GET the operation and store its answer.
        $database->prepare('INSERT OR REPLACE INTO operation VALUES (?, ?)')
            ->execute([$event['data']['anticipationId'], $event['data']['status']]);
    }
}

function receive(): int
{
    // The bytes as they came: neither $_POST nor anything that was parsed.
    $body = file_get_contents('php://input', length: MAX_BODY + 1);
    if (strlen($body) > MAX_BODY) {
        return 413;
    }
    // During a rotation with overlap: the new secret and the old one, separated by a comma.
    $secrets = explode(',', getenv('WEBHOOK_SECRET'));
    $reason = refusal($secrets, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null, $body);
    if ($reason !== null) {
        error_log("refused: $reason");
        return 400;
    }
    $event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);

    // In your system: the database that holds the invoices.
    // Without a file SQLite would forget everything after each request.
    $file = getenv('DATABASE') ?: throw new RuntimeException('DATABASE is not set');
    $database = new PDO("sqlite:$file");
    $database->exec('CREATE TABLE IF NOT EXISTS seen (event_id TEXT PRIMARY KEY)');
    $database->exec('CREATE TABLE IF NOT EXISTS operation (id INTEGER PRIMARY KEY, status TEXT)');
    // Effect and id in one transaction: an event has its effect exactly once, however often it comes,
    // and a 2xx confirms that both are stored.
    $database->beginTransaction();
    $insert = $database->prepare('INSERT OR IGNORE INTO seen VALUES (?)');
    $insert->execute([$event['id']]);
    if ($insert->rowCount() === 1) {
        apply($database, $event);
    }
    $database->commit();
    error_log("accepted: {$event['type']} {$event['id']}");
    return 204;
}

// An exception that nobody catches is answered with 500, and the event comes again.
http_response_code(500);
http_response_code(receive());
