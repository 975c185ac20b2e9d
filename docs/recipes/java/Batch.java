// Offers every invoice of a list: Batch INVOICES.csv. Jackson reads and writes the JSON.
//
// A row is OFFER_ID;CNPJ;NUMBER;AMOUNT;DUE_DATE. OFFER_ID is your own record's id, stored before anything
// is sent: the program may be killed and started again with the same list, and creates each offer once.
// PREAUTH_BASE_URL is the server's address, with or without /api/integration/v1, PREAUTH_API_KEY the key.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

final class Batch {
    private static final int ATTEMPTS = 5;
    /** The most that a batch takes. */
    private static final int ITEMS = 100;
    private static final Set<String> SETTINGS = Set.of("PREAUTH_BASE_URL", "PREAUTH_API_KEY");
    private static final Set<Integer> WORTH_REPEATING = Set.of(408, 429, 500, 502, 503, 504);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP =
        HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 1 || SETTINGS.stream().anyMatch(it -> System.getenv().getOrDefault(it, "").isEmpty())) {
            System.err.println("usage: Batch INVOICES.csv, with " + SETTINGS + " set");
            System.exit(2);
        }
        var invoices = new ArrayList<String[]>();
        int number = 0;
        for (var line : Files.readAllLines(Path.of(arguments[0]))) {
            number++;
            if (line.isEmpty()) continue;
            var row = line.split(";", -1);
            if (row.length != 5) {
                System.err.println(arguments[0] + ", line " + number + ": " + row.length
                    + " columns in place of 5; nothing was sent");
                System.exit(1);
            }
            invoices.add(row);
        }
        boolean hasOpen = false;
        for (int begin = 0; begin < invoices.size(); begin += ITEMS) {
            var batch = invoices.subList(begin, Math.min(begin + ITEMS, invoices.size()));
            var results = offer(batch);
            hasOpen |= results.values().stream().anyMatch(Batch::isOpen);
            results.forEach((place, result) -> {
                boolean isThere = result.get("status").intValue() == 201;
                var outcome = isThere
                    ? result.at("/preAuthorization/id") + (result.path("replayed").booleanValue() ? " replayed" : " created")
                    : result.get("status") + " " + code(result);
                System.out.println(batch.get(place)[0] + " " + outcome);
            });
        }
        if (hasOpen) {
            System.err.println("some offers have no outcome yet: run it again with the same list");
            System.exit(1);
        }
    }

    private static Map<String, Object> item(String[] row) {
        String offerId = row[0], cnpj = row[1], number = row[2], dueDate = row[4];
        return Map.of(
            "idempotencyKey", "pre-auth-" + offerId,
            "preAuthorization", Map.of(
                "supplier", Map.of("cnpj", cnpj, "email", "financeiro@fornecedor.example.com"),
                // A BigDecimal, never a double.
                "invoice", Map.of("amount", new BigDecimal(row[3]), "dueDate", dueDate, "number", number),
                "externalReference", offerId));
    }

    private static String baseUrl() {
        return System.getenv("PREAUTH_BASE_URL").replaceFirst("(/api/integration/v1)?/*$", "");
    }

    /** The whole answer: the time-out of a request ends once its headers are there. */
    private static HttpResponse<byte[]> send(HttpRequest request) throws IOException, InterruptedException {
        var answer = HTTP.sendAsync(request, BodyHandlers.ofByteArray());
        try {
            return answer.get(60, TimeUnit.SECONDS);
        } catch (TimeoutException error) {
            answer.cancel(true);
            throw new IOException("no whole answer", error);
        } catch (ExecutionException error) {
            throw new IOException(error.getCause());
        }
    }

    private static String code(JsonNode result) {
        return result.at("/errors/0/code").asText();
    }

    /** Whether an item may have another outcome when it is sent again: 401 and 403 are about the API key alone. */
    private static boolean isOpen(JsonNode result) {
        int status = result.get("status").intValue();
        return status == 401 || status == 403 || WORTH_REPEATING.contains(status)
            || code(result).equals("IDEMPOTENCY_IN_PROGRESS");
    }

    /**
     * The result of each row, the last one of those that stay open. The keys make repeating safe: what was done is
     * answered, not done again.
     */
    private static Map<Integer, JsonNode> offer(List<String[]> rows) throws Exception {
        var results = new TreeMap<Integer, JsonNode>();
        List<Integer> open = new ArrayList<>();
        for (int place = 0; place < rows.size(); place++) open.add(place);
        Object problem = null;
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            long pause = 1L << attempt;
            var items = open.stream().map(place -> item(rows.get(place))).toList();
            var request = HttpRequest.newBuilder(
                    URI.create(baseUrl() + "/api/integration/v1/pre-authorizations/batch"))
                .header("Authorization", "Bearer " + System.getenv("PREAUTH_API_KEY"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(Map.of("items", items))))
                .build();
            try {
                var response = send(request);
                var answer = JSON.readTree(response.body());
                pause = response.headers().firstValueAsLong("Retry-After").orElse(pause);
                if (response.statusCode() == 200) {
                    for (var result : answer.get("results")) {
                        results.put(open.get(result.get("index").intValue()), result);
                    }
                    open = open.stream().filter(place -> isOpen(results.get(place))).toList();
                    if (open.isEmpty()) break;
                } else {
                    // The batch as a whole: nothing was done.
                    problem = response.statusCode() + " " + answer.get("errors") + " (request "
                        + response.headers().firstValue("X-Request-Id").orElse("none") + ")";
                    if (!WORTH_REPEATING.contains(response.statusCode())) break;
                }
            } catch (IOException error) {
                problem = error;
            }
            if (attempt < ATTEMPTS) Thread.sleep(Duration.ofSeconds(pause).toMillis());
        }
        if (results.size() < rows.size()) throw new IllegalStateException("not offered: " + problem);
        return results;
    }
}
