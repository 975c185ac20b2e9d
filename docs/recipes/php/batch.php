<?php
// Offers every invoice of a list: batch.php INVOICES.csv
//
// A row is OFFER_ID;CNPJ;NUMBER;AMOUNT;DUE_DATE. OFFER_ID is your own record's id, stored before anything
// is sent: the program may be killed and started again with the same list, and creates each offer once.
// PREAUTH_BASE_URL is the server's address, with or without /api/integration/v1, PREAUTH_API_KEY the key.

declare(strict_types=1);

const ATTEMPTS = 5;
const ITEMS = 100; // the most that a batch takes
const WORTH_REPEATING = [408, 429, 500, 502, 503, 504];

/** The server's address, from one with or without the path of the API. */
function baseUrl(): string
{
    return preg_replace('~(/api/integration/v1)?/*$~', '', (string) getenv('PREAUTH_BASE_URL'));
}

function item(array $row): array
{
    [$offerId, $cnpj, $number, $amount, $dueDate] = $row;
    return [
        'idempotencyKey' => "pre-auth-$offerId",
        'preAuthorization' => [
            'supplier' => ['cnpj' => $cnpj, 'email' => 'financeiro@fornecedor.example.com'],
            // An amount may be sent as text, so no binary float touches it.
            'invoice' => ['amount' => $amount, 'dueDate' => $dueDate, 'number' => $number],
            'externalReference' => $offerId,
        ],
    ];
}

/** One attempt: the status (0 without an answer), the headers in lower case, the answer's body. */
function send(array $items): array
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => ['Authorization: Bearer ' . getenv('PREAUTH_API_KEY'), 'Content-Type: application/json'],
        'content' => json_encode(['items' => $items], JSON_THROW_ON_ERROR),
        // Otherwise a refusal is a warning without body.
        'ignore_errors' => true,
        'follow_location' => 0,
        'timeout' => 60,
    ]]);
    $url = baseUrl() . '/api/integration/v1/pre-authorizations/batch';
    $text = @file_get_contents($url, context: $context);
    if ($text === false) {
        return [0, [], null];
    }
    $lines = $http_response_header;
    $status = (int) explode(' ', array_shift($lines))[1];
    $headers = [];
    foreach ($lines as $line) {
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $headers[strtolower($name)] = trim($value);
    }
    return [$status, $headers, json_decode($text, true)];
}

/** Whether an item may have another outcome when it is sent again: 401 and 403 are about the API key alone. */
function isOpen(array $result): bool
{
    return in_array($result['status'], [401, 403, ...WORTH_REPEATING], true)
        || ($result['errors'][0]['code'] ?? null) === 'IDEMPOTENCY_IN_PROGRESS';
}

/**
 * The result of each row, the last one of those that stay open. The keys make repeating safe: what was done is
 * answered, not done again.
 */
function offer(array $rows): array
{
    $results = [];
    $open = array_keys($rows);
    for ($attempt = 1; ; $attempt++) {
        [$status, $headers, $answer] = send(array_map(fn ($place) => item($rows[$place]), $open));
        if ($status === 200 && $answer !== null) {
            foreach ($answer['results'] as $result) {
                $results[$open[$result['index']]] = $result;
            }
            $open = array_values(array_filter($open, fn ($place) => isOpen($results[$place])));
        }
        // A refusal of the batch as a whole: nothing was done.
        $isWorthRepeating = $answer === null || $status === 200 || in_array($status, WORTH_REPEATING, true);
        if (!$isWorthRepeating || !$open || $attempt === ATTEMPTS) {
            if (count($results) === count($rows)) {
                ksort($results);
                return $results;
            }
            $problem = json_encode($answer['errors'] ?? null, JSON_UNESCAPED_UNICODE);
            $request = $headers['x-request-id'] ?? 'none';
            throw new RuntimeException("not offered: $status $problem (request $request)");
        }
        sleep((int) ($headers['retry-after'] ?? 2 ** $attempt));
    }
}

if ($argc !== 2 || !getenv('PREAUTH_BASE_URL') || !getenv('PREAUTH_API_KEY')) {
    fwrite(STDERR, "usage: batch.php INVOICES.csv, with PREAUTH_BASE_URL and PREAUTH_API_KEY set\n");
    exit(2);
}
$invoices = [];
foreach (file($argv[1], FILE_IGNORE_NEW_LINES) as $place => $line) {
    if ($line === '') {
        continue;
    }
    $row = explode(';', $line);
    if (count($row) !== 5) {
        $number = $place + 1;
        fwrite(STDERR, "$argv[1], line $number: " . count($row) . " columns in place of 5; nothing was sent\n");
        exit(1);
    }
    $invoices[] = $row;
}
$hasOpen = false;
foreach (array_chunk($invoices, ITEMS) as $batch) {
    foreach (offer($batch) as $place => $result) {
        $outcome = $result['status'] === 201
            ? $result['preAuthorization']['id'] . (($result['replayed'] ?? false) ? ' replayed' : ' created')
            : "{$result['status']} {$result['errors'][0]['code']}";
        echo "{$batch[$place][0]} $outcome\n";
        $hasOpen = $hasOpen || isOpen($result);
    }
}
if ($hasOpen) {
    fwrite(STDERR, "some offers have no outcome yet: run it again with the same list\n");
    exit(1);
}
