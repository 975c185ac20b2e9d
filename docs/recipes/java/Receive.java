// Receives webhooks: Receive PORT, with the signing secret in WEBHOOK_SECRET. Jackson reads the JSON.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

final class Receive {
    private static final int MAX_BODY = 1024 * 1024;
    private static final ObjectMapper JSON = new ObjectMapper();
    // During a rotation with overlap: the new secret and the old one, separated by a comma.
    private static final List<String> SECRETS = List.of(System.getenv("WEBHOOK_SECRET").split(",", -1));

    // In your system: tables. Effect and event id go into one transaction, so that an event has its
    // effect exactly once, however often it comes, and a 2xx confirms that both are stored.
    private static final Set<String> SEEN = new HashSet<>();
    private static final Map<Long, String> OPERATIONS = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
        var server = HttpServer.create(address, 0);
        server.createContext("/", exchange -> {
            int status = 500;
            try {
                status = receive(exchange);
            } catch (Exception error) {
                // Whatever fails is answered with 500, and the event comes again.
                error.printStackTrace();
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }

    private static int receive(HttpExchange exchange) throws Exception {
        var body = exchange.getRequestBody().readNBytes(MAX_BODY + 1);
        if (body.length > MAX_BODY) return 413;
        var header = exchange.getRequestHeaders().getFirst("x-service-signature");
        var outcome = Verifier.verify(SECRETS, header, body, Instant.now().getEpochSecond(), 300);
        if (outcome != Verifier.Outcome.ACCEPTED) {
            System.out.println("refused: " + outcome);
            return 400;
        }
        // From the bytes, so that Jackson sees to UTF-8.
        var event = JSON.readTree(body);
        apply(event);
        System.out.println("accepted: " + event.get("type").textValue() + " " + event.get("id").textValue());
        return 204;
    }

    private static synchronized void apply(JsonNode event) {
        if (SEEN.contains(event.get("id").textValue())) return;
        // Types that this program does not know are acknowledged, too.
        if (event.get("type").textValue().matches("(pre_authorization|anticipation)\\..*")) {
            // Events may arrive out of order. Where that matters, GET the operation and store its answer.
            var data = event.get("data");
            OPERATIONS.put(data.get("anticipationId").longValue(), data.get("status").textValue());
        }
        SEEN.add(event.get("id").textValue());
    }
}
