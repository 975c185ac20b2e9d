// Creates a pre-authorization: Create.exe OFFER_ID CNPJ NUMBER AMOUNT DUE_DATE
//
// OFFER_ID is your own record's id, stored before anything is sent: with the same id this may be run
// again and again, and creates once. PREAUTH_BASE_URL is the server's address,
// with or without /api/integration/v1, PREAUTH_API_KEY the key.

using System;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Runtime.Serialization;

[DataContract]
sealed class Supplier
{
    [DataMember(Name = "cnpj")] public string Cnpj;
    [DataMember(Name = "email")] public string Email;
}

[DataContract]
sealed class Invoice
{
    // An amount may be sent as text, so neither a binary float nor the machine's decimal comma touches it.
    [DataMember(Name = "amount")] public string Amount;
    [DataMember(Name = "dueDate")] public string DueDate;
    [DataMember(Name = "number")] public string Number;
}

[DataContract]
sealed class Offer
{
    [DataMember(Name = "supplier")] public Supplier Supplier;
    [DataMember(Name = "invoice")] public Invoice Invoice;
    [DataMember(Name = "externalReference")] public string ExternalReference;
}

static class Create
{
    static void Main(string[] arguments)
    {
        if (arguments.Length != 5 || !Api.IsConfigured)
        {
            Console.Error.WriteLine("usage: Create.exe OFFER_ID CNPJ NUMBER AMOUNT DUE_DATE, with PREAUTH_BASE_URL and PREAUTH_API_KEY set");
            Environment.Exit(2);
        }
        var offer = new Offer
        {
            Supplier = new Supplier { Cnpj = arguments[1], Email = "financeiro@fornecedor.example.com" },
            Invoice = new Invoice { Number = arguments[2], Amount = arguments[3], DueDate = arguments[4] },
            ExternalReference = arguments[0],
        };
        var json = Json.Write(offer);
        var answer = Api.Send(() =>
        {
            var content = new ByteArrayContent(json);
            content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
            var path = new Uri("/api/integration/v1/pre-authorizations", UriKind.Relative);
            var request = new HttpRequestMessage(HttpMethod.Post, path) { Content = content };
            // Always the same for this offer.
            request.Headers.Add("Idempotency-Key", "pre-auth-" + arguments[0]);
            return request;
        });
        var how = answer.IsReplayed ? "replayed" : "created";
        Console.WriteLine(answer.Body.Text("id") + " " + answer.Body.Text("status") + " " + how);
    }
}
