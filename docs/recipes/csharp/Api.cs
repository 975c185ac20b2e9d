// Requests to the API that repeat what may be repeated.

using System;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text.RegularExpressions;
using System.Threading;
using System.Xml.Linq;

sealed class Answer
{
    public int Status;
    public XElement Body;
    public bool IsReplayed;
}

static class Api
{
    const int Attempts = 5;
    static readonly int[] WorthRepeating = { 408, 429, 500, 502, 503, 504 };
    // With or without the path of the API.
    static readonly string BaseUrl = Regex.Replace(
        Environment.GetEnvironmentVariable("PREAUTH_BASE_URL") ?? "", "(/api/integration/v1)?/*$", "");
    static readonly string Key = Environment.GetEnvironmentVariable("PREAUTH_API_KEY") ?? "";
    // One for the whole program. Longer than the service may wait for an event.
    static readonly HttpClient Http = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false })
    {
        Timeout = TimeSpan.FromSeconds(45),
    };

    public static bool IsConfigured { get { return BaseUrl != "" && Key != ""; } }

    /// <summary>The answer, if it is a success. `request` makes the request anew for each attempt.</summary>
    public static Answer Send(Func<HttpRequestMessage> request)
    {
        string problem = null;
        for (int attempt = 1; attempt <= Attempts; attempt++)
        {
            int pause = 1 << attempt;
            try
            {
                using (var message = request())
                {
                    message.RequestUri = new Uri(BaseUrl + message.RequestUri);
                    message.Headers.Add("Authorization", "Bearer " + Key);
                    using (var response = Http.SendAsync(message).GetAwaiter().GetResult())
                    {
                        int status = (int)response.StatusCode;
                        var body = Json.Read(response.Content.ReadAsByteArrayAsync().GetAwaiter().GetResult());
                        if (status == 200 || status == 201)
                            return new Answer { Status = status, Body = body, IsReplayed = Header(response, "Idempotency-Replayed") == "true" };
                        var error = body.Element("errors").Elements("item").First();
                        problem = status + " " + error.Text("code") + ": " + error.Text("message")
                            + " (request " + Header(response, "X-Request-Id") + ")";
                        if (!WorthRepeating.Contains(status) && error.Text("code") != "IDEMPOTENCY_IN_PROGRESS") break;
                        pause = int.Parse(Header(response, "Retry-After") ?? pause.ToString());
                    }
                }
            }
            catch (Exception error) when (
                error is HttpRequestException || error is OperationCanceledException || error is IOException
                || error is System.Xml.XmlException || error is FormatException)
            {
                // No answer, or none of the API's: it may have been done. A key makes repeating safe.
                problem = error.Message;
            }
            if (attempt < Attempts) Thread.Sleep(TimeSpan.FromSeconds(pause));
        }
        throw new InvalidOperationException("refused, or not answered: " + problem);
    }

    static string Header(HttpResponseMessage response, string name)
    {
        return response.Headers.TryGetValues(name, out var values) ? values.First() : null;
    }
}
