// Receives webhooks in Spring MVC, with the signing secret in WEBHOOK_SECRET. Jackson reads the JSON.

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

@RestController
class WithSpring {
    private static final int MAX_BODY = 1024 * 1024;
    // During a rotation with overlap: the new secret and the old one, separated by a comma.
    private static final List<String> SECRETS = List.of(System.getenv("WEBHOOK_SECRET").split(",", -1));
    private final ObjectMapper json = new ObjectMapper();

    @PostMapping("/webhooks")
    ResponseEntity<Void> receive(
            @RequestHeader(name = "x-service-signature", required = false) String signature,
            InputStream body) throws Exception {
        // A byte[] as @RequestBody takes as many as a stranger sends.
        var bytes = body.readNBytes(MAX_BODY + 1);
        if (bytes.length > MAX_BODY) return ResponseEntity.status(413).build();
        var outcome = Verifier.verify(SECRETS, signature, bytes, Instant.now().getEpochSecond(), 300);
        if (outcome != Verifier.Outcome.ACCEPTED) {
            System.out.println("refused: " + outcome);
            return ResponseEntity.badRequest().build();
        }
        var event = json.readTree(bytes);
        // Here: effect and id in one @Transactional method, as in Receive.
        System.out.println(event.get("type").textValue() + " " + event.get("id").textValue());
        return ResponseEntity.noContent().build();
    }
}
