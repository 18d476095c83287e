import { useClipboard } from "@mantine/hooks";
import { Link } from "wouter";
import type { DynamicName } from "../../../src/contract/overview.ts";
import { NameText } from "../../shared/name-text.tsx";
import { ServiceLinks, useServices } from "../../shared/services.tsx";
import { When } from "../../shared/time/when.tsx";
import { WithCode } from "../../shared/with-code.tsx";
import { zoneAddress } from "../zones/zone-address.ts";
import type { Condition, Tone } from "./condition.ts";

/** What a card and a row of the list show of a name. */

const toneWords: Readonly<Record<Tone, string>> = {
  right: "right",
  moving: "on its way",
  waiting: "waiting",
  silent: "silent",
  failing: "failing",
  paused: "paused",
  "by-hand": "by hand",
};

/** The shape differs too, for those who cannot tell the colours apart. */
export const ToneMark = ({ tone }: { readonly tone: Tone }) => (
  <span className={`tone ${tone}`} role="img" aria-label={toneWords[tone]} title={toneWords[tone]} />
);

/** Leads to the history of the name, or to its record if it has never moved. */
export function NameLink({ name: { name, at, moves, families } }: { readonly name: DynamicName }) {
  const shown = <NameText name={name} />;
  if (at === null) return shown;
  const edit = new URLSearchParams(families[0] ? { edit: `${at.owner}/${families[0].type}` } : { filter: at.owner });
  return (
    <Link
      href={moves.length > 1 ? zoneAddress(at.zone, "moving") : `${zoneAddress(at.zone)}?${edit}`}
      className="name-link"
    >
      {shown}
    </Link>
  );
}

/** The addresses, which a click copies. */
export function Addresses({ of: { families } }: { readonly of: DynamicName }) {
  const all = families.flatMap(({ type, values }) => values.map((value) => ({ type, value })));
  if (all.length === 0) return <p className="addresses quiet">no address yet</p>;
  return (
    <p className="addresses">
      {all.map(({ type, value }) => (
        <Address key={`${type} ${value}`} text={value} />
      ))}
    </p>
  );
}

function Address({ text }: { readonly text: string }) {
  const { copied, copy } = useClipboard({ timeout: 1_500 });
  return (
    <button
      type="button"
      className="address mono"
      onClick={() => copy(text)}
      aria-label={copied ? `${text}: copied` : `Copy ${text}`}
    >
      {text}
      <span aria-hidden className={copied ? "copied" : "to-be-copied"}>
        {copied ? "✓" : "⧉"}
      </span>
    </button>
  );
}

/** "FRITZ!Box, heard 2 minutes ago" */
export const Reporter = ({ of: { reporter, last } }: { readonly of: Condition }) => (
  <span className="quiet">
    {reporter}
    {last === null ? (
      ", not heard yet"
    ) : (
      <>
        , {last.verb} <When at={last.at} />
      </>
    )}
  </span>
);

/** What is wrong, and the page with the remedy. */
export function TroubleOf({ condition: { trouble, tone } }: { readonly condition: Condition }) {
  const updater = useServices().filter(({ service }) => service === "updater");
  if (trouble === undefined) return null;
  const { text, remedy } = trouble;
  return (
    <div className={`name-trouble ${tone}`}>
      <p>
        <WithCode text={text} />
      </p>
      {remedy && "href" in remedy && (
        <Link href={remedy.href} className="remedy">
          {remedy.label}
        </Link>
      )}
      {remedy && "at" in remedy && updater.length > 0 && (
        <ServiceLinks services={updater} label={remedy.label} className="remedy" />
      )}
    </div>
  );
}
