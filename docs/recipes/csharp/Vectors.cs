// Holds Verifier to the shared vectors: Vectors.exe VECTORS.json

using System;
using System.IO;
using System.Linq;

static class Vectors
{
    static void Main(string[] arguments)
    {
        var cases = Json.Read(File.ReadAllBytes(arguments[0])).Element("cases").Elements("item").ToList();
        foreach (var each in cases)
        {
            var hex = each.Text("body_hex");
            var header = each.Element("header");
            var outcome = Verifier.Refusal(
                each.Element("secrets").Elements("item").Select(secret => secret.Value).ToList(),
                (string)header.Attribute("type") == "null" ? null : header.Value,
                Enumerable.Range(0, hex.Length / 2).Select(at => Convert.ToByte(hex.Substring(2 * at, 2), 16)).ToArray(),
                long.Parse(each.Text("now_unix_seconds")),
                long.Parse(each.Text("tolerance_seconds"))) ?? "accepted";
            if (outcome != each.Text("outcome")) throw new Exception(each.Text("name") + ": " + outcome);
        }
        Console.WriteLine(cases.Count + " vectors");
    }
}
