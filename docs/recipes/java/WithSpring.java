// Receives webhooks in Spring MVC, with the signing secret in WEBHOOK_SECRET. Jackson reads the JSON.

import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.util.List;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

@RestController
class WithSpring {
    // During a rotation with overlap: the new secret and the old one, separated by a comma.
    private static final List<String> SECRETS = List.of(System.getenv("WEBHOOK_SECRET").split(","));
    private final ObjectMapper json = new ObjectMapper();

    @PostMapping("/webhooks")
    ResponseEntity<Void> receive(
            @RequestHeader(name = "x-service-signature", required = false) String signature,
            @RequestBody(required = false) byte[] body) throws Exception {
        var bytes = body == null ? new byte[0] : body;
        var outcome = Verifier.verify(SECRETS, signature, bytes, Instant.now().getEpochSecond(), 300);
        if (outcome != Verifier.Outcome.ACCEPTED) return ResponseEntity.badRequest().build();
        var event = json.readTree(bytes);
        // Here: effect and id in one @Transactional method, as in Receive.
        System.out.println(event.get("type").textValue() + " " + event.get("id").textValue());
        return ResponseEntity.noContent().build();
    }
}
