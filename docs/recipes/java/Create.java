// Creates a pre-authorization: Create OFFER_ID CNPJ NUMBER AMOUNT DUE_DATE. Jackson writes the JSON.
//
// OFFER_ID is your own record's id, stored before anything is sent: with the same id this may be run
// again and again, and creates once. PREAUTH_BASE_URL is the server's address,
// with or without /api/integration/v1, PREAUTH_API_KEY the key.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

final class Create {
    private static final int ATTEMPTS = 5;
    private static final Set<String> SETTINGS = Set.of("PREAUTH_BASE_URL", "PREAUTH_API_KEY");
    private static final Set<Integer> WORTH_REPEATING = Set.of(408, 429, 500, 502, 503, 504);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP =
        HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

    record Created(JsonNode operation, boolean isReplayed) {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 5 || SETTINGS.stream().anyMatch(it -> System.getenv().getOrDefault(it, "").isEmpty())) {
            System.err.println("usage: Create OFFER_ID CNPJ NUMBER AMOUNT DUE_DATE, with " + SETTINGS + " set");
            System.exit(2);
        }
        String offerId = arguments[0], cnpj = arguments[1], number = arguments[2], dueDate = arguments[4];
        var offer = Map.of(
            "supplier", Map.of("cnpj", cnpj, "email", "financeiro@fornecedor.example.com"),
            // A BigDecimal, never a double.
            "invoice", Map.of("amount", new BigDecimal(arguments[3]), "dueDate", dueDate, "number", number),
            "externalReference", offerId);
        var created = create(JSON.writeValueAsBytes(offer), "pre-auth-" + offerId);
        var operation = created.operation();
        System.out.println(operation.get("id") + " " + operation.get("status").textValue()
            + (created.isReplayed() ? " replayed" : " created"));
    }

    private static String baseUrl() {
        return System.getenv("PREAUTH_BASE_URL").replaceFirst("(/api/integration/v1)?/*$", "");
    }

    /** The whole answer: the time-out of a request ends once its headers are there. */
    private static HttpResponse<byte[]> send(HttpRequest request) throws IOException, InterruptedException {
        var answer = HTTP.sendAsync(request, BodyHandlers.ofByteArray());
        try {
            return answer.get(30, TimeUnit.SECONDS);
        } catch (TimeoutException error) {
            answer.cancel(true);
            throw new IOException("no whole answer", error);
        } catch (ExecutionException error) {
            throw new IOException(error.getCause());
        }
    }

    /** Creates, repeating what may be repeated, always under the same key. */
    static Created create(byte[] body, String idempotencyKey) throws InterruptedException {
        var request = HttpRequest.newBuilder(
                URI.create(baseUrl() + "/api/integration/v1/pre-authorizations"))
            .header("Authorization", "Bearer " + System.getenv("PREAUTH_API_KEY"))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", idempotencyKey)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
        Object problem = null;
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            long wait = 1L << attempt;
            try {
                var response = send(request);
                var headers = response.headers();
                var answer = JSON.readTree(response.body());
                if (response.statusCode() == 201) {
                    return new Created(answer, headers.firstValue("Idempotency-Replayed").isPresent());
                }
                problem = response.statusCode() + " " + answer.get("errors") + " (request "
                    + headers.firstValue("X-Request-Id").orElse("none") + ")";
                var isInProgress =
                    answer.at("/errors/0/code").asText().equals("IDEMPOTENCY_IN_PROGRESS");
                if (!WORTH_REPEATING.contains(response.statusCode()) && !isInProgress) break;
                wait = headers.firstValueAsLong("Retry-After").orElse(wait);
            } catch (IOException error) {
                // No answer, or none of the API's: it may have been done. The key makes repeating safe.
                problem = error;
            }
            if (attempt < ATTEMPTS) Thread.sleep(Duration.ofSeconds(wait).toMillis());
        }
        throw new IllegalStateException("not created: " + problem);
    }
}
