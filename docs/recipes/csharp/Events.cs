// Reads events on request, for a system that nobody can reach from outside: Events.exe FOLDER [once]
//
// FOLDER keeps the place in the events and what was done: the program may be killed and started again at
// any moment, and acts on each event once. With `once` it ends when there are no more events, for a
// scheduler; without, it waits for the next one. PREAUTH_BASE_URL is the server's address, with or without
// /api/integration/v1, PREAUTH_API_KEY the key.

using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Http;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;

/// <summary>What was done, a line for each event. In your system: a table with the event's id as its key,
/// written in the transaction that has the event's effect.</summary>
sealed class Journal
{
    readonly FileStream file;
    readonly HashSet<string> done = new HashSet<string>();

    public Journal(string path)
    {
        var text = File.Exists(path) ? File.ReadAllText(path) : "";
        // A line without its end was being written when the program was killed: it was not done.
        var whole = text.Substring(0, text.LastIndexOf('\n') + 1);
        foreach (var line in whole.Split('\n')) done.Add(line.Split(' ')[0]);
        file = new FileStream(path, FileMode.OpenOrCreate);
        file.SetLength(Encoding.UTF8.GetByteCount(whole));
        file.Seek(0, SeekOrigin.End);
    }

    public void Act(XElement happened)
    {
        string id = happened.Text("id"), line = id + " " + happened.Text("type");
        if (done.Contains(id)) return;
        // Types that this program does not know are passed over.
        if (Regex.IsMatch(happened.Text("type"), @"^(pre_authorization|anticipation)\."))
            line += " " + happened.Text("data", "anticipationId") + " " + happened.Text("data", "status");
        var bytes = Encoding.UTF8.GetBytes(line + "\n");
        file.Write(bytes, 0, bytes.Length);
        file.Flush(true); // to the disk
        done.Add(id);
        Console.WriteLine(line);
    }
}

static class Events
{
    static void Main(string[] arguments)
    {
        if (arguments.Length < 1 || !Api.IsConfigured)
        {
            Console.Error.WriteLine("usage: Events.exe FOLDER [once], with PREAUTH_BASE_URL and PREAUTH_API_KEY set");
            Environment.Exit(2);
        }
        string folder = arguments[0], cursor = Path.Combine(folder, "cursor");
        bool once = arguments.Length > 1, more = true;
        Directory.CreateDirectory(folder);
        var journal = new Journal(Path.Combine(folder, "journal"));
        while (more || !once)
        {
            var query = "?limit=100&wait=" + (once ? 0 : 30);
            if (File.Exists(cursor)) query += "&after=" + Uri.EscapeDataString(File.ReadAllText(cursor));
            // 410 EVENT_CURSOR_EXPIRED: events were missed. A person compares, then deletes the cursor.
            var path = new Uri("/api/integration/v1/events" + query, UriKind.Relative);
            var page = Api.Send(() => new HttpRequestMessage(HttpMethod.Get, path)).Body;
            foreach (var happened in page.Element("data").Elements("item")) journal.Act(happened);
            // Only now: what was not done comes again.
            Store(cursor, page.Text("pagination", "next"));
            more = page.Text("pagination", "hasMore") == "true";
        }
    }

    /// <summary>In place of the one before, as a whole.</summary>
    static void Store(string path, string cursor)
    {
        using (var file = new FileStream(path + ".new", FileMode.Create))
        {
            var bytes = Encoding.ASCII.GetBytes(cursor);
            file.Write(bytes, 0, bytes.Length);
            file.Flush(true);
        }
        if (File.Exists(path)) File.Replace(path + ".new", path, null);
        else File.Move(path + ".new", path);
    }
}
