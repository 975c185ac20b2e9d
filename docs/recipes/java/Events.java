// Reads events on request, for a system that nobody can reach from outside: Events FOLDER [once]. Jackson
// reads the JSON.
//
// FOLDER keeps the place in the events and what was done: the program may be killed and started again at
// any moment, and acts on each event once. With `once` it ends when there are no more events, for a
// scheduler; without, it waits for the next one. PREAUTH_BASE_URL is the server's address, with or without
// /api/integration/v1, PREAUTH_API_KEY the key.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

final class Events {
    private static final int ATTEMPTS = 5;
    private static final Set<String> SETTINGS = Set.of("PREAUTH_BASE_URL", "PREAUTH_API_KEY");
    private static final Set<Integer> WORTH_REPEATING = Set.of(408, 429, 500, 502, 503, 504);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP =
        HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

    /**
     * What was done, a line for each event. In your system: a table with the event's id as its key,
     * written in the transaction that has the event's effect.
     */
    private static final class Journal {
        private final FileOutputStream file;
        private final Set<String> done = new HashSet<>();

        Journal(Path path) throws IOException {
            file = new FileOutputStream(path.toFile(), true);
            var text = Files.readString(path);
            // A line without its end was being written when the program was killed: it was not done.
            var whole = text.substring(0, text.lastIndexOf('\n') + 1);
            file.getChannel().truncate(whole.getBytes(StandardCharsets.UTF_8).length);
            whole.lines().forEach(line -> done.add(line.split(" ")[0]));
        }

        void act(JsonNode event) throws IOException {
            var id = event.get("id").textValue();
            if (done.contains(id)) return;
            var line = id + " " + event.get("type").textValue();
            // Types that this program does not know are passed over.
            if (event.get("type").textValue().matches("(pre_authorization|anticipation)\\..*")) {
                var data = event.get("data");
                line += " " + data.get("anticipationId") + " " + data.get("status").textValue();
            }
            file.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            file.getFD().sync();
            done.add(id);
            System.out.println(line);
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 1 || SETTINGS.stream().anyMatch(it -> System.getenv().getOrDefault(it, "").isEmpty())) {
            System.err.println("usage: Events FOLDER [once], with " + SETTINGS + " set");
            System.exit(2);
        }
        boolean once = arguments.length > 1;
        var folder = Files.createDirectories(Path.of(arguments[0]));
        var journal = new Journal(folder.resolve("journal"));
        var cursor = folder.resolve("cursor");
        boolean more = true;
        while (more || !once) {
            var after = Files.exists(cursor) ? Files.readString(cursor).strip() : null;
            var page = page(after, once ? 0 : 30);
            for (var event : page.get("data")) journal.act(event);
            // Only now: what was not done comes again.
            store(cursor, page.at("/pagination/next").textValue());
            more = page.at("/pagination/hasMore").booleanValue();
        }
    }

    private static String baseUrl() {
        return System.getenv("PREAUTH_BASE_URL").replaceFirst("(/api/integration/v1)?/*$", "");
    }

    /** The whole answer: the time-out of a request ends once its headers are there. */
    private static HttpResponse<byte[]> send(HttpRequest request) throws IOException, InterruptedException {
        var answer = HTTP.sendAsync(request, BodyHandlers.ofByteArray());
        try {
            // Longer than the service may wait.
            return answer.get(45, TimeUnit.SECONDS);
        } catch (TimeoutException error) {
            answer.cancel(true);
            throw new IOException("no whole answer", error);
        } catch (ExecutionException error) {
            throw new IOException(error.getCause());
        }
    }

    /** In place of the one before, as a whole. */
    private static void store(Path path, String cursor) throws IOException {
        var beside = Path.of(path + ".new");
        try (var file = new FileOutputStream(beside.toFile())) {
            file.write(cursor.getBytes(StandardCharsets.US_ASCII));
            file.getFD().sync();
        }
        Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE);
    }

    /** The next events, asking again where that may help. */
    private static JsonNode page(String after, int wait) throws InterruptedException {
        var query = "?limit=100&wait=" + wait
            + (after == null ? "" : "&after=" + URLEncoder.encode(after, StandardCharsets.UTF_8));
        var request = HttpRequest.newBuilder(
                URI.create(baseUrl() + "/api/integration/v1/events" + query))
            .header("Authorization", "Bearer " + System.getenv("PREAUTH_API_KEY"))
            .build();
        Object problem = null;
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            long pause = 1L << attempt;
            try {
                var response = send(request);
                var answer = JSON.readTree(response.body());
                if (response.statusCode() == 200) return answer;
                problem = response.statusCode() + " " + answer.get("errors") + " (request "
                    + response.headers().firstValue("X-Request-Id").orElse("none") + ")";
                // 410 EVENT_CURSOR_EXPIRED: events were missed. A person compares, then deletes the cursor.
                if (!WORTH_REPEATING.contains(response.statusCode())) break;
                pause = response.headers().firstValueAsLong("Retry-After").orElse(pause);
            } catch (IOException error) {
                problem = error;
            }
            if (attempt < ATTEMPTS) Thread.sleep(Duration.ofSeconds(pause).toMillis());
        }
        throw new IllegalStateException("no events: " + problem);
    }
}
