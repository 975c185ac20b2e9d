<?php
// Receives webhooks in Laravel, as routes/api.php or a part of it, with the signing secret in WEBHOOK_SECRET.

declare(strict_types=1);

use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Route;

require_once __DIR__ . '/verify.php';

Route::post('/webhooks', function (Request $request): Response {
    // Laravel has read it already; post_max_size in php.ini bounds that.
    $body = $request->getContent();
    if (strlen($body) > 1024 * 1024) {
        return new Response(status: 413);
    }
    // During a rotation with overlap: the new secret and the old one, separated by a comma.
    $secrets = explode(',', getenv('WEBHOOK_SECRET'));
    $reason = refusal($secrets, $request->header('x-service-signature'), $body);
    if ($reason !== null) {
        error_log("refused: $reason");
        return new Response(status: 400);
    }
    $event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    // Effect and id in one transaction: an event has its effect exactly once, however often it comes.
    DB::transaction(function () use ($event): void {
        // A table of a migration of yours, in which event_id is unique.
        if (DB::table('webhook_events')->insertOrIgnore(['event_id' => $event['id']]) === 0) {
            return;
        }
        // What it means to your invoices. Types that this program does not know are acknowledged, too.
    });
    return new Response(status: 204);
});
