<?php
// Reads events on request, for a system that nobody can reach from outside: events.php FOLDER [once]
//
// FOLDER keeps the place in the events and what was done: the program may be killed and started again at
// any moment, and acts on each event once. With `once` it ends when there are no more events, for a
// scheduler; without, it waits for the next one. PREAUTH_BASE_URL is the server's address, with or without
// /api/integration/v1, PREAUTH_API_KEY the key.

declare(strict_types=1);

const ATTEMPTS = 5;

/** The server's address, from one with or without the path of the API. */
function baseUrl(): string
{
    return preg_replace('~(/api/integration/v1)?/*$~', '', (string) getenv('PREAUTH_BASE_URL'));
}

/**
 * What was done, a line for each event. In your system: a table with the event's id as its key, written
 * in the transaction that has the event's effect.
 */
final class Journal
{
    private $file;
    private array $done = [];

    public function __construct(string $path)
    {
        $this->file = fopen($path, 'a+');
        $text = stream_get_contents($this->file);
        // A line without its end was being written when the program was killed: it was not done.
        $whole = substr($text, 0, (int) strrpos("\n$text", "\n"));
        ftruncate($this->file, strlen($whole));
        foreach (array_filter(explode("\n", $whole)) as $line) {
            $this->done[explode(' ', $line)[0]] = true;
        }
    }

    public function act(array $event): void
    {
        if (isset($this->done[$event['id']])) {
            return;
        }
        $line = "{$event['id']} {$event['type']}";
        // Types that this program does not know are passed over.
        if (preg_match('/^(pre_authorization|anticipation)\./', $event['type'])) {
            $line .= " {$event['data']['anticipationId']} {$event['data']['status']}";
        }
        fwrite($this->file, "$line\n");
        fsync($this->file);
        $this->done[$event['id']] = true;
        echo "$line\n";
    }
}

/** In place of the one before, as a whole. */
function store(string $path, string $cursor): void
{
    $beside = fopen("$path.new", 'w');
    fwrite($beside, $cursor);
    fsync($beside);
    fclose($beside);
    rename("$path.new", $path);
}

/** One attempt: the status (0 without an answer), the headers in lower case, the answer's body. */
function ask(?string $after, int $wait): array
{
    $context = stream_context_create(['http' => [
        'header' => ['Authorization: Bearer ' . getenv('PREAUTH_API_KEY')],
        // Otherwise a refusal is a warning without body.
        'ignore_errors' => true,
        'follow_location' => 0,
        // Longer than the service may wait.
        'timeout' => 45,
    ]]);
    $query = http_build_query(['limit' => 100, 'wait' => $wait, 'after' => $after]);
    $text = @file_get_contents(baseUrl() . "/api/integration/v1/events?$query", context: $context);
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

/** The next events, asking again where that may help. */
function page(?string $after, int $wait): array
{
    for ($attempt = 1; ; $attempt++) {
        [$status, $headers, $answer] = ask($after, $wait);
        if ($status === 200 && $answer !== null) {
            return $answer;
        }
        // 410 EVENT_CURSOR_EXPIRED: events were missed. A person compares, then deletes the cursor.
        $isWorthRepeating = $answer === null || in_array($status, [408, 429, 500, 502, 503, 504], true);
        if (!$isWorthRepeating || $attempt === ATTEMPTS) {
            $problem = json_encode($answer['errors'] ?? null, JSON_UNESCAPED_UNICODE);
            $request = $headers['x-request-id'] ?? 'none';
            throw new RuntimeException("no events: $status $problem (request $request)");
        }
        sleep((int) ($headers['retry-after'] ?? 2 ** $attempt));
    }
}

if ($argc < 2 || !getenv('PREAUTH_BASE_URL') || !getenv('PREAUTH_API_KEY')) {
    fwrite(STDERR, "usage: events.php FOLDER [once], with PREAUTH_BASE_URL and PREAUTH_API_KEY set\n");
    exit(2);
}
$folder = $argv[1];
$once = isset($argv[2]);
is_dir($folder) || mkdir($folder, recursive: true);
$journal = new Journal("$folder/journal");
$more = true;
while ($more || !$once) {
    $cursor = is_file("$folder/cursor") ? trim(file_get_contents("$folder/cursor")) : null;
    $page = page($cursor, $once ? 0 : 30);
    foreach ($page['data'] as $event) {
        $journal->act($event);
    }
    // Only now: what was not done comes again.
    store("$folder/cursor", $page['pagination']['next']);
    $more = $page['pagination']['hasMore'];
}
