<?php
// Verifies signed webhooks. PHP 8 and its own functions only.

declare(strict_types=1);

/**
 * Returns why a delivery must be refused; null if it is accepted.
 *
 * $secrets are those in force, $header is the value of x-service-signature (null if there is none),
 * $body is the body as it came. A signature may lie $tolerance seconds from $now.
 */
function refusal(array $secrets, ?string $header, string $body, ?int $now = null, int $tolerance = 300): ?string
{
    // As the platform shows it. An empty one is everybody's, and explode(',', 'whsec_new,') has one.
    if (!$secrets || preg_grep('/^whsec_[^\x00-\x20\x7f]{18,}$/D', $secrets) !== $secrets) {
        return 'bad_secret';
    }
    if ($header === null) {
        return 'missing_header';
    }
    if (strlen($header) > 2048) {
        return 'malformed';
    }
    $values = ['t' => [], 'v1' => []];
    foreach (explode(',', $header) as $item) {
        // name=value: printable ASCII, neither space nor comma in it. D: `$` is not before a line end.
        if (!preg_match('/^([!-+\--<>-~]+)=([!-+\--~]*)$/D', $item, $found)) {
            return 'malformed';
        }
        $values[$found[1]][] = $found[2];
    }
    ['t' => $timestamps, 'v1' => $signatures] = $values;
    if (count($timestamps) !== 1 || !preg_match('/^(?:0|[1-9][0-9]{0,11})$/D', $timestamps[0])) {
        return 'malformed';
    }
    if (count($signatures) < 1 || count($signatures) > 8) {
        return 'malformed';
    }
    foreach ($signatures as $signature) {
        if (!preg_match('/^[0-9A-Fa-f]{64}$/D', $signature)) {
            return 'malformed';
        }
    }

    $age = ($now ?? time()) - (int) $timestamps[0];
    if (abs($age) > $tolerance) {
        return $age > 0 ? 'too_old' : 'too_new';
    }

    $matches = false;
    foreach ($secrets as $secret) {
        // The text of t as it came, never a number printed anew.
        $expected = hash_hmac('sha256', $timestamps[0] . '.' . $body, $secret);
        foreach ($signatures as $signature) {
            // In constant time, and all of them, whatever was found before. Never `==`: two texts
            // that look like numbers are compared as numbers.
            $matches = hash_equals($expected, strtolower($signature)) || $matches;
        }
    }
    return $matches ? null : 'no_match';
}
