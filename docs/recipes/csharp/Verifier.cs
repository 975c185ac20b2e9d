// Verifies signed webhooks. .NET Framework 4.7 or newer and its own classes only.

using System;
using System.Collections.Generic;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

static class Verifier
{
    // As the platform shows it. An empty one is everybody's, and "whsec_new,".Split(',') has one.
    // \z and not $, which also stands before a line end.
    static readonly Regex Secret = new Regex(@"\Awhsec_[^\x00-\x20\x7f]{18,}\z");
    // name=value: printable ASCII, neither space nor comma in it.
    static readonly Regex Item = new Regex(@"\A([\x21-\x2b\x2d-\x3c\x3e-\x7e]+)=([\x21-\x2b\x2d-\x7e]*)\z");
    static readonly Regex Timestamp = new Regex(@"\A(?:0|[1-9][0-9]{0,11})\z");
    static readonly Regex Signature = new Regex(@"\A[0-9A-Fa-f]{64}\z");

    /// <summary>Returns why a delivery must be refused; null if it is accepted.</summary>
    /// <param name="secrets">Those in force.</param>
    /// <param name="header">The value of x-service-signature, null if there is none.</param>
    /// <param name="body">The bytes as they came.</param>
    /// <param name="now">Seconds since 1970; a signature may lie <c>tolerance</c> seconds from it.</param>
    public static string Refusal(
        IReadOnlyList<string> secrets, string header, byte[] body, long now, long tolerance = 300)
    {
        if (secrets.Count == 0) return "bad_secret";
        foreach (var secret in secrets)
            if (!Secret.IsMatch(secret)) return "bad_secret";
        if (header == null) return "missing_header";
        if (header.Length > 2048) return "malformed";
        List<string> timestamps = new List<string>(), signatures = new List<string>();
        foreach (var text in header.Split(','))
        {
            var item = Item.Match(text);
            if (!item.Success) return "malformed";
            if (item.Groups[1].Value == "t") timestamps.Add(item.Groups[2].Value);
            if (item.Groups[1].Value == "v1") signatures.Add(item.Groups[2].Value);
        }
        if (timestamps.Count != 1 || !Timestamp.IsMatch(timestamps[0])) return "malformed";
        if (signatures.Count < 1 || signatures.Count > 8) return "malformed";
        if (!signatures.TrueForAll(signature => Signature.IsMatch(signature))) return "malformed";

        long age = now - long.Parse(timestamps[0]);
        if (Math.Abs(age) > tolerance) return age > 0 ? "too_old" : "too_new";

        // The text of t as it came, never a number printed anew.
        var prefix = Encoding.ASCII.GetBytes(timestamps[0] + ".");
        var signed = new byte[prefix.Length + body.Length];
        prefix.CopyTo(signed, 0);
        body.CopyTo(signed, prefix.Length);
        bool matches = false;
        foreach (var secret in secrets)
        {
            using (var mac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
            {
                var expected = mac.ComputeHash(signed);
                // All of them, whatever was found before.
                foreach (var signature in signatures) matches |= IsEqual(expected, signature);
            }
        }
        return matches ? null : "no_match";
    }

    /// <summary>In constant time. Newer .NET has CryptographicOperations.FixedTimeEquals.</summary>
    static bool IsEqual(byte[] expected, string hex)
    {
        int difference = 0;
        for (int place = 0; place < expected.Length; place++)
            difference |= expected[place] ^ Convert.ToByte(hex.Substring(2 * place, 2), 16);
        return difference == 0;
    }
}
