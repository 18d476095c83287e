/** Just enough XML for the answers of two services: elements without attributes, none inside another of the same name. */

/** What a dialect keeps of an answer in XML: `{ xml: … }`. */
export const xmlIn = (body: Readonly<Record<string, unknown>> | undefined): string =>
  typeof body?.xml === "string" ? body.xml : "";

/** The unparsed content of every element with this name. */
export const elementsIn = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, "g"))].map(([, content = ""]) => content);

/** The texts of all elements with this name. */
export const textsIn = (xml: string, name: string): readonly string[] =>
  elementsIn(xml, name).map((content) => unescaped(content.trim()));

/** The text of the first element with this name. */
export const textIn = (xml: string, name: string): string | undefined => textsIn(xml, name)[0];

export const escaped = (text: string): string =>
  text.replaceAll(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);

const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const unescaped = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi,
    (whole, decimal?: string, hex?: string, word?: string) => {
      if (word !== undefined) return named[word] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
