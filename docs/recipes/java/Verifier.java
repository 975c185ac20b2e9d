// Verifies signed webhooks. Java 17 and its own classes only.

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Verifier {
    // As the platform shows it. An empty one is everybody's, and "whsec_new,".split(",", -1) has one.
    private static final Pattern SECRET = Pattern.compile("whsec_[^\\x00-\\x20\\x7f]{18,}");
    // name=value: printable ASCII, neither space nor comma in it.
    private static final Pattern ITEM = Pattern.compile("([!-+\\--<>-~]+)=([!-+\\--~]*)");
    private static final Pattern TIMESTAMP = Pattern.compile("0|[1-9][0-9]{0,11}");
    private static final Pattern SIGNATURE = Pattern.compile("[0-9A-Fa-f]{64}");

    enum Outcome { ACCEPTED, BAD_SECRET, MISSING_HEADER, MALFORMED, TOO_OLD, TOO_NEW, NO_MATCH }

    private Verifier() {}

    /**
     * Says whether a delivery is to be accepted, or why not.
     *
     * @param secrets those in force
     * @param header the value of x-service-signature, null if there is none
     * @param body the bytes as they came
     * @param now seconds since 1970; a signature may lie {@code tolerance} seconds from it
     */
    static Outcome verify(List<String> secrets, String header, byte[] body, long now, long tolerance)
            throws GeneralSecurityException {
        if (secrets.isEmpty()) return Outcome.BAD_SECRET;
        for (var secret : secrets) {
            if (!SECRET.matcher(secret).matches()) return Outcome.BAD_SECRET;
        }
        if (header == null) return Outcome.MISSING_HEADER;
        if (header.length() > 2048) return Outcome.MALFORMED;
        var timestamps = new ArrayList<String>();
        var signatures = new ArrayList<String>();
        // -1: otherwise split drops what is empty at the end.
        for (var text : header.split(",", -1)) {
            var item = ITEM.matcher(text);
            if (!item.matches()) return Outcome.MALFORMED;
            if (item.group(1).equals("t")) timestamps.add(item.group(2));
            if (item.group(1).equals("v1")) signatures.add(item.group(2));
        }
        if (timestamps.size() != 1) return Outcome.MALFORMED;
        var timestamp = timestamps.get(0);
        if (!TIMESTAMP.matcher(timestamp).matches()) return Outcome.MALFORMED;
        if (signatures.isEmpty() || signatures.size() > 8) return Outcome.MALFORMED;
        for (var signature : signatures) {
            if (!SIGNATURE.matcher(signature).matches()) return Outcome.MALFORMED;
        }

        long age = now - Long.parseLong(timestamp);
        if (Math.abs(age) > tolerance) return age > 0 ? Outcome.TOO_OLD : Outcome.TOO_NEW;

        boolean matches = false;
        for (var secret : secrets) {
            var mac = Mac.getInstance("HmacSHA256");
            // Never getBytes() without a charset: before Java 18 it is the machine's own.
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            // The text of t as it came, never a number printed anew.
            mac.update((timestamp + ".").getBytes(StandardCharsets.US_ASCII));
            var expected = mac.doFinal(body);
            for (var signature : signatures) {
                // In constant time, and all of them, whatever was found before; not Arrays.equals.
                matches |= MessageDigest.isEqual(expected, HexFormat.of().parseHex(signature));
            }
        }
        return matches ? Outcome.ACCEPTED : Outcome.NO_MATCH;
    }
}
