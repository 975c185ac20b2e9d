<?php
// Creates a pre-authorization: create.php OFFER_ID CNPJ NUMBER AMOUNT DUE_DATE
//
// OFFER_ID is your own record's id, stored before anything is sent: with the same id this may be run
// again and again, and creates once. PREAUTH_BASE_URL is the server's address,
// with or without /api/integration/v1, PREAUTH_API_KEY the key.

declare(strict_types=1);

const ATTEMPTS = 5;

/** The server's address, from one with or without the path of the API. */
function baseUrl(): string
{
    return preg_replace('~(/api/integration/v1)?/*$~', '', (string) getenv('PREAUTH_BASE_URL'));
}

/** One attempt: the status (0 without an answer), the headers in lower case, the answer's body. */
function send(array $body, string $idempotencyKey): array
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => [
            'Authorization: Bearer ' . getenv('PREAUTH_API_KEY'),
            'Content-Type: application/json',
            "Idempotency-Key: $idempotencyKey",
        ],
        'content' => json_encode($body, JSON_THROW_ON_ERROR),
        // Otherwise a refusal is a warning without body.
        'ignore_errors' => true,
        'follow_location' => 0,
        'timeout' => 30,
    ]]);
    $url = baseUrl() . '/api/integration/v1/pre-authorizations';
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

/** Creates, repeating what may be repeated, always under the same key. */
function create(array $body, string $idempotencyKey): array
{
    for ($attempt = 1; ; $attempt++) {
        [$status, $headers, $answer] = send($body, $idempotencyKey);
        if ($status === 201 && $answer !== null) {
            return [$answer, ($headers['idempotency-replayed'] ?? '') === 'true'];
        }
        // No answer, or none of the API's: it may have been done. The key makes repeating safe.
        $code = $answer['errors'][0]['code'] ?? null;
        $isWorthRepeating = $code === null || $code === 'IDEMPOTENCY_IN_PROGRESS'
            || in_array($status, [408, 429, 500, 502, 503, 504], true);
        if (!$isWorthRepeating || $attempt === ATTEMPTS) {
            $problem = json_encode($answer['errors'] ?? null, JSON_UNESCAPED_UNICODE);
            $request = $headers['x-request-id'] ?? 'none';
            throw new RuntimeException("not created: $status $problem (request $request)");
        }
        sleep((int) ($headers['retry-after'] ?? 2 ** $attempt));
    }
}

if ($argc !== 6 || !getenv('PREAUTH_BASE_URL') || !getenv('PREAUTH_API_KEY')) {
    fwrite(STDERR, "usage: create.php OFFER_ID CNPJ NUMBER AMOUNT DUE_DATE, with PREAUTH_BASE_URL and PREAUTH_API_KEY set\n");
    exit(2);
}
[, $offerId, $cnpj, $number, $amount, $dueDate] = $argv;
$offer = [
    'supplier' => ['cnpj' => $cnpj, 'email' => 'financeiro@fornecedor.example.com'],
    // An amount may be sent as text, so no binary float touches it.
    'invoice' => ['amount' => $amount, 'dueDate' => $dueDate, 'number' => $number],
    'externalReference' => $offerId,
];
[$operation, $isReplayed] = create($offer, "pre-auth-$offerId");
echo $operation['id'], ' ', $operation['status'], ' ', $isReplayed ? 'replayed' : 'created', "\n";
