import type { Mapping } from "../../lib/settings/mapping.ts";
import { type Schema, sharedTable, typeInWords } from "../../lib/settings/setting.ts";

/** A setting of a kind of source or target, as its own description shows it. */
export type KindSetting = {
  readonly key: string;
  readonly description: string;
  readonly example: string;
  /** How its answer is asked for and written. */
  readonly type: "text" | "url" | "secret" | "path" | "choice" | "yaml";
  readonly choices: readonly string[];
  readonly isNeeded: boolean;
};

/** All settings of a kind. `type` follows from its schema, so that a new kind needs no change here. */
export function settingsOf({ schema }: Mapping<unknown>): readonly KindSetting[] {
  const needed = (schema.required ?? []) as readonly string[];
  return Object.entries(schema.properties as Readonly<Record<string, Schema>>).map(([key, setting]) => {
    const [example] = (setting.examples ?? []) as readonly unknown[];
    return {
      key,
      description: typeof setting.description === "string" ? setting.description : key,
      example: typeof example === "string" ? example : JSON.stringify(example ?? ""),
      type: typeOf(setting),
      choices: (setting.enum ?? []) as readonly string[],
      isNeeded: needed.includes(key),
    };
  });
}

function typeOf(setting: Schema): KindSetting["type"] {
  const words = setting[typeInWords];
  if (words === "secret" || words === "path") return words;
  if (words === "URL") return "url";
  if (setting.enum !== undefined) return "choice";
  return setting.type === "string" ? "text" : "yaml";
}

/**
 * The settings to ask for: the needed ones, and those of the kind's example, which works. The rest has defaults. What
 * to trust is decided by looking at the certificate.
 */
export function settingsToAsk(kind: Mapping<unknown>): readonly KindSetting[] {
  const { properties, examples = [] } = kind.schema as {
    readonly properties: Readonly<Record<string, Schema>>;
    readonly examples?: readonly object[];
  };
  const shown = Object.keys(examples[0] ?? {});
  return settingsOf(kind).filter(
    ({ key, isNeeded }) => (isNeeded || shown.includes(key)) && properties[key]?.[sharedTable] === undefined,
  );
}

/** Whether its entries say which certificate to trust. */
export const canTrust = ({ keys }: Mapping<unknown>): boolean => keys.includes("fingerprint");

/** `url` instead of a choice of well-known services, for a kind that needs one of the two. */
export const hasOtherUrl = (kind: Mapping<unknown>, { type, isNeeded }: KindSetting): boolean =>
  type === "choice" && !isNeeded && kind.keys.includes("url");

/** `The URL of the router.` as a question. */
export const asQuestion = (description: string): string => description.replace(/\.(?= |$)|$/, "?");
