// Reads JSON with the classes of .NET alone, as XML: an object's fields are elements of their names, an
// array's are <item>. A field that this program does not know is an element that nobody asks for.

using System.IO;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Xml;
using System.Xml.Linq;

static class Json
{
    public static XElement Read(byte[] bytes)
    {
        using (var reader = JsonReaderWriterFactory.CreateJsonReader(bytes, XmlDictionaryReaderQuotas.Max))
            return XElement.Load(reader);
    }

    /// <summary>An object that is a class with the attributes DataContract and DataMember.</summary>
    public static byte[] Write(object value)
    {
        using (var stream = new MemoryStream())
        {
            new DataContractJsonSerializer(value.GetType()).WriteObject(stream, value);
            return stream.ToArray();
        }
    }

    public static string Text(this XElement element, params string[] path)
    {
        foreach (var name in path) element = element?.Element(name);
        return element?.Value;
    }
}
