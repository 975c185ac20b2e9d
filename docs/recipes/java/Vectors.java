// Holds Verifier to the shared vectors: Vectors VECTORS.json

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.ArrayList;
import java.util.HexFormat;

final class Vectors {
    public static void main(String[] arguments) throws Exception {
        var cases = new ObjectMapper().readTree(new File(arguments[0])).get("cases");
        for (JsonNode each : cases) {
            var secrets = new ArrayList<String>();
            each.get("secrets").forEach(secret -> secrets.add(secret.textValue()));
            var outcome = Verifier.verify(
                secrets,
                each.get("header").textValue(),
                HexFormat.of().parseHex(each.get("body_hex").textValue()),
                each.get("now_unix_seconds").longValue(),
                each.get("tolerance_seconds").longValue());
            if (!outcome.name().equalsIgnoreCase(each.get("outcome").textValue())) {
                throw new AssertionError(each.get("name") + ": " + outcome);
            }
        }
        System.out.println(cases.size() + " vectors");
    }
}
