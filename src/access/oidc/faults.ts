import { isObject } from "../../core/is-object.ts";
import { ProviderSilent } from "./fetch.ts";

/** Whether the provider could not be reached, or failed itself: that says nothing about the user. */
export const isSilent = (error: unknown): boolean =>
  causesOf(error).some((each) => each instanceof ProviderSilent || statusOf(each) >= 500 || statusOf(each) === 429);

/**
 * For the log. Error codes and our own words only: a description by the provider may repeat what was sent, such as a
 * secret.
 */
export function oidcError(error: unknown): string {
  const causes = causesOf(error);
  const code = causes.find((each) => isObject(each) && typeof each.error === "string") as { error: string } | undefined;
  const status = causes.map(statusOf).find((each) => each > 0);
  const silent = causes.find((each) => each instanceof ProviderSilent);
  if (silent !== undefined) return silent.message;
  const words = causes[0] instanceof Error ? causes[0].message : "an error";
  return [words, code && `(${plain(code.error)})`, status && `status ${status}`].filter(Boolean).join(" ");
}

const plain = (code: string): string => code.replaceAll(/[^\w-]/g, "").slice(0, 60);

const statusOf = (error: unknown): number => {
  const status = (error as { readonly status?: unknown } | undefined)?.status;
  return typeof status === "number" ? status : 0;
};

/** The error and its causes, a few levels deep. */
function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let each = error; each !== undefined && each !== null && causes.length < 5; )
    each = (causes.push(each), (each as { readonly cause?: unknown }).cause);
  return causes;
}
