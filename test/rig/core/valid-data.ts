/** Names on the wire: a., b.example. and the root. */
const [a, b, root] = ["016100", "0162076578616d706c6500", "00"];
const text = "0568656c6c6f";
const sha1 = "11".repeat(20);
const sha256 = "22".repeat(32);
const sha384 = "44".repeat(48);
const p256 = "55".repeat(64);
/** RRSIG of type A, without its signature. */
const signed = `0001 0d 02 00000e10 70000000 60000000 1267 ${b}`;

/** Data of each type in hexadecimal, among it the shortest and the oddest that is valid. */
const written: Readonly<Record<number, readonly string[]>> = {
  7: [a, root],
  8: [a],
  9: [a],
  14: [a + b],
  18: [`0001 ${b}`],
  21: [`0002 ${b}`],
  23: [b],
  29: ["00 12 16 13 8b3fd0e0 80100000 00989680", "00 00 00 00 80000000 80000000 00000000"],
  35: [`0064 000a 0155 07 5349502b443255 ${root} ${b}`, `0000 0000 00 00 00 ${root}`],
  36: [`0001 ${b}`],
  37: ["0001 0000 00 ff", "0001 1267 0d aabbcc"],
  39: [a, root],
  42: ["0001 18 03 c00002", "0001 00 80 0002 20 04 20010db8"],
  44: [`01 01 ${sha1}`, `04 02 ${sha256}`],
  45: [`0a 00 02 ${sha1}`, `0a 01 02 c0000201 ${sha1}`, `0a 03 02 ${b} ${sha1}`],
  46: [`${signed} ${p256}`],
  47: [`${b} 0006 400000000003`],
  48: [`0101 03 0d ${p256}`, `0100 03 08 03010001 ${sha256}`],
  49: [`0001 01 ${sha256}`],
  50: [`01 00 0000 00 14 ${sha1} 0006 400000000002`],
  51: ["01 00 0000 00", "01 00 0000 02 abcd"],
  53: [`03 01 01 ${sha256}`],
  55: [`10 02 0020 ${sha256.slice(0, 32)} ${sha256}`, `10 02 0020 ${sha256.slice(0, 32)} ${sha256} ${b}`],
  59: [`1267 0d 02 ${sha256}`, `1267 0d 04 ${sha384}`, "0000 00 00 00"],
  60: [`0101 03 0d ${p256}`, "0000 03 00 00"],
  61: ["99"],
  62: ["00000001 0003 0004 60000008", "00000001 0003"],
  63: [`00000001 01 01 ${sha384}`],
  66: [`003b 01 14eb ${b}`],
  67: ["830c295458064398"],
  68: ["a3000001"],
  99: [text, text + text],
  104: ["000a 0014 4fff ff20 ee64"],
  105: ["000a c0000201"],
  106: ["000a 20010db811401000"],
  107: [`000a ${b}`],
  108: ["00005e005300"],
  109: ["00005e0053000000"],
  256: ["000a 0001 6674703a2f2f", "000a 0001 66"],
  258: [text],
  259: ["00000001 00000002 01 0a746578742f706c61696e ff"],
  260: ["0a 00", "0a 01 c0000201", `0a 83 ${b}`],
  261: [text],
  262: [text + text],
  263: [text],
  264: ["0000000000000001"],
  32768: [`1267 0d 02 ${sha256}`],
  32769: [`1267 0d 02 ${sha256}`],
};

/** By the number of the type. */
export const validData: Readonly<Record<number, readonly string[]>> = Object.fromEntries(
  Object.entries(written).map(([code, all]) => [code, all.map((hex) => hex.replaceAll(" ", ""))]),
);
