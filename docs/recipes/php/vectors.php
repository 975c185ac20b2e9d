<?php
// Holds verify.php to the shared vectors: vectors.php VECTORS.json

declare(strict_types=1);

require __DIR__ . '/verify.php';

$cases = json_decode(file_get_contents($argv[1]), true, flags: JSON_THROW_ON_ERROR)['cases'];
foreach ($cases as $case) {
    $outcome = refusal(
        $case['secrets'],
        $case['header'],
        hex2bin($case['body_hex']),
        $case['now_unix_seconds'],
        $case['tolerance_seconds'],
    ) ?? 'accepted';
    if ($outcome !== $case['outcome']) {
        fwrite(STDERR, "{$case['name']}: $outcome\n");
        exit(1);
    }
}
echo count($cases), " vectors\n";
