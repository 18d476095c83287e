import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { findElements, readXml, textOf, type XmlElement } from "./xml.ts";

const shape = ({ name, text, children }: XmlElement): unknown =>
  children.length > 0 ? { [name]: children.map(shape) } : { [name]: text };

test.each<[string, string, unknown]>([
  ["an element", "<a>1</a>", { a: "1" }],
  ["a declaration and comments around it", '<?xml version="1.0"?>\n<!-- x -->\n<a>1</a>\n<!-- y -->\n', { a: "1" }],
  ["a prefix and attributes", "<s:a xmlns:s=\"urn:x\" s:b='2'>1</s:a>", { a: "1" }],
  ["an empty element", "<a><b/><c></c></a>", { a: [{ b: "" }, { c: "" }] }],
  ["blanks around a text", "<a>\n  1 \n</a>", { a: "1" }],
  ["the five known entities", "<a>&lt;b&gt; &amp;amp; &quot;&apos;</a>", { a: "<b> &amp; \"'" }],
  ["a bare ampersand, as routers send it", "<a>/x?a=1&b=2</a>", { a: "/x?a=1&b=2" }],
  ["CDATA", "<a><![CDATA[<b>&amp;]]></a>", { a: "<b>&amp;" }],
])("reads %s", (_, text, expected) => {
  const read = readXml(text);
  expect(read && shape(read)).toEqual(expected);
});

const bomb = `<!DOCTYPE a [<!ENTITY x "${"y".repeat(100)}"><!ENTITY z "&x;&x;&x;">]><a>&z;</a>`;

test.each([
  ["nothing", ""],
  ["text", "Service unavailable"],
  ["a web page", "<!doctype html><p>Login"],
  ["a document type", bomb],
  ["an external entity", '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'],
  ["an open element", "<a><b></a>"],
  ["a wrong order", "<a><b></a></b>"],
  ["an extra end tag", "<a></a></a>"],
  ["two elements", "<a/><b/>"],
  ["text before it", "x<a/>"],
  ["text after it", "<a/>x"],
  ["a truncated tag", "<a><b>1</b></"],
  ["an open comment", "<a><!-- </a>"],
  ["an attribute without quotes", "<a b=1/>"],
  ["too deep", "<a>".repeat(40) + "</a>".repeat(40)],
  ["too long", `<a>${"x".repeat(300_000)}</a>`],
])("refuses %s", (_, text) => {
  expect(readXml(text)).toBeUndefined();
});

describe("any input", () => {
  it("is read or refused in linear time", () => {
    for (const start of ["<", "<a ", "<!--", '<a b="', "&", "<a>", "<?", "<![CDATA[", "</"]) {
      const text = start.repeat(200_000 / start.length);
      const begin = process.cpuUsage();
      expect(readXml(text)).toBeUndefined();
      expect(process.cpuUsage(begin).user).toBeLessThan(2_000_000);
    }
  });

  it("never throws", () => {
    const part = fc.constantFrom(
      "<a>",
      "</a>",
      "<b/>",
      "x",
      "&amp;",
      "<!--",
      "-->",
      "<![CDATA[",
      "]]>",
      "<?",
      "?>",
      " ",
    );
    fc.assert(fc.property(fc.array(part, { maxLength: 12 }), (parts) => void readXml(parts.join(""))));
  });
});

it("finds elements at any depth, and texts of children only", () => {
  const root = readXml("<r><d><s><u>1</u></s></d><s><u>2</u></s></r>");
  if (!root) throw new Error();
  expect(findElements(root, "s").map((each) => textOf(each, "u"))).toEqual(["1", "2"]);
  expect(textOf(root, "u")).toBeUndefined();
});
