import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ESTree, parseSync } from "vite";

/** A text that a person may read: on a terminal, in a log, an API answer or a page. */
export type Message = { readonly kind: Kind; readonly file: string; readonly line: number; readonly text: string };

export const kinds = {
  help: "help of the command line",
  output: "output of the command line",
  log: "log messages",
  fault: "faults, errors and reasons",
  api: "descriptions of the API",
  page: "pages in the browser",
  other: "other texts, such as parts of messages",
} as const;

export type Kind = keyof typeof kinds;

let ofTheProgram: readonly Message[] | undefined;

/** Every such text of the program: bin, src and console, without tests. They are looked for once per process. */
export function allMessages(repository: string): readonly Message[] {
  ofTheProgram ??= findMessages(repository);
  return ofTheProgram;
}

function findMessages(repository: string): readonly Message[] {
  const files = ["bin", "src", "console"].flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  return files
    .filter((name) => /\.tsx?$/.test(name) && !/\.(test|d)\.tsx?$/.test(name))
    .toSorted()
    .flatMap((file) => messagesIn(file, readFileSync(join(repository, file), "utf8")));
}

/** Every such text of a file, in the order of its lines. `${…}` in a template is written `{…}`. */
export function messagesIn(file: string, source: string): readonly Message[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const found: Message[] = [];
  /** The nodes around the current one, the outermost first. */
  const around: Node[] = [];
  const visit = (node: Node): void => {
    if (isPassedOver(node)) return;
    const text = textOf(node);
    if (text !== undefined) {
      const kind = kindOf(node, around.toReversed(), file);
      const words = text.replaceAll(/\s+/g, " ").trim();
      if (kind !== undefined && isReadable(words, kind))
        found.push({ kind, file, line: source.slice(0, node.start).split("\n").length, text: words });
    }
    around.push(node);
    // What is put into a template may be a text as well: `${isOld ? "an old" : "a new"} key`.
    if (text === undefined) childrenOf(node).forEach(visit);
    else if (node.type === "TemplateLiteral") node.expressions.forEach(visit);
    around.pop();
  };
  visit(program);
  return found;
}

type Node = ESTree.Node;

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node as object).flatMap((value: unknown) =>
    (Array.isArray(value) ? value : [value]).filter(
      (each): each is Node => typeof each === "object" && each !== null && typeof (each as Node).type === "string",
    ),
  );
}

/** Import paths, types, and queries that a tag marks. */
const isPassedOver = (node: Node): boolean =>
  /^(Import|ExportAll|TS(?!AsExpression|SatisfiesExpression|NonNullExpression))/.test(node.type) ||
  (node.type === "TaggedTemplateExpression" && nameOf(node.tag) === "sql");

/** A string, a template, or several put together with `+`. */
function textOf(node: Node): string | undefined {
  if (node.type === "JSXText") return node.value;
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type === "TemplateLiteral") return node.quasis.map(({ value }) => value.cooked).join("{…}");
  if (node.type !== "BinaryExpression" || node.operator !== "+") return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** The last name of `a.b.c`. */
function nameOf(node: Node): string {
  if (node.type === "Identifier") return node.name;
  if (node.type === "MemberExpression" && node.property.type === "Identifier") return node.property.name;
  return "";
}

const visibleAttributes =
  /^(title|label|placeholder|description|alt|aria-label|caption|hint|error|heading|message|text|confirm)/i;
const visibleKeys =
  /^(message|todo|because|why|reason|hint|title|detail|words|text|say|heading|label|placeholder|error)$/;
const logCalls = /^(trace|debug|info|warn|error|fatal)$/;
const helpCalls =
  /^(description|summary|option|argument|helpCommand|Option|addHelpText|verb|storeVerb|dataVerb|settings)$/;
const outputCalls = /^(out|err|outro|intro|note|cancel|step|success)$/;

/** Decided by the nearest node around the text that shows what it is for. Undefined if it is not for people. */
function kindOf(node: Node, above: readonly Node[], file: string): Kind | undefined {
  let inner = node;
  for (const outer of above) {
    if (outer.type === "JSXAttribute") return visibleAttributes.test(jsxName(outer.name)) ? "page" : undefined;
    if (outer.type === "JSXElement" || outer.type === "JSXFragment") return "page";
    if (outer.type === "Property") {
      if (outer.key === inner && !outer.computed) return undefined;
      const key = outer.key.type === "Identifier" ? outer.key.name : "";
      if (/^(summary|description)$/.test(key)) return "api";
      if (visibleKeys.test(key)) return file.startsWith("console/") ? "page" : "fault";
    }
    if (outer.type === "MemberExpression" || outer.type === "SwitchCase") return undefined;
    if (outer.type === "BinaryExpression" && /^[!=]==$/.test(outer.operator)) return undefined;
    if ((outer.type === "CallExpression" || outer.type === "NewExpression") && outer.callee !== inner) {
      const name = nameOf(outer.callee);
      const owner = outer.callee.type === "MemberExpression" ? nameOf(outer.callee.object) : "";
      if (logCalls.test(name) && owner.toLowerCase().includes("log")) return "log";
      if (outputCalls.test(name)) return "output";
      if (helpCalls.test(name)) return /^-/.test(textOf(node) ?? "") ? undefined : "help";
      if (/Error$|[fF]ault$|^fail$|^refuse/.test(name)) return "fault";
    }
    // `["--config <file>", "the updater's config file"]`
    if (outer.type === "ArrayExpression") {
      const [first] = outer.elements;
      if (first && first !== inner && textOf(first)?.startsWith("--")) return "help";
    }
    inner = outer;
  }
  return file.startsWith("console/") ? "page" : "other";
}

const jsxName = (name: ESTree.JSXAttribute["name"]): string =>
  name.type === "JSXIdentifier" ? name.name : `${name.namespace.name}:${name.name.name}`;

const query =
  /^(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA|SET|LOCK|NOTIFY|LISTEN|UNLISTEN|GRANT|TRUNCATE|VALUES|ATTACH|DETACH|ANALYZE|VACUUM|EXPLAIN|RETURNING|ON CONFLICT|WHERE|AND|OR|FROM|ORDER BY|LIMIT|JOIN|LEFT JOIN)\b/;
const columns = /\b(PRIMARY KEY|NOT NULL|REFERENCES|BIGINT|TEXT NOT|INTEGER NOT|COALESCE\(|GROUP BY|ORDER BY)\b/;

/** Two words at least; one is enough where nothing but words can stand. */
function isReadable(text: string, kind: Kind): boolean {
  if (query.test(text) || columns.test(text) || !/\p{L}{2}/u.test(text)) return false;
  if (/\p{L}{2,}[,;:.!?)']*\s+\S*\p{L}/u.test(text)) return true;
  return kind === "log" || kind === "api" || (kind === "page" && /^\p{Lu}\p{Ll}+$/u.test(text));
}
