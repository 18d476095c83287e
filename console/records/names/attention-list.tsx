import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Attention } from "../../../src/contract/overview.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { ServiceLinks, useServices } from "../../shared/services.tsx";
import { useNow, When } from "../../shared/time/when.tsx";
import { durationInWords } from "../../shared/time/words-of-time.ts";
import { WithCode } from "../../shared/with-code.tsx";
import { zoneAddress } from "../zones/zone-address.ts";
import { useShownFirst } from "./shown-first.tsx";
import { type Unpublished, unpublishedInWords } from "./unpublished-words.ts";

/**
 * Problems that somebody should look at, each with a link. `isFine`: nothing is wrong elsewhere on the page, so that an
 * empty list says so.
 */
export function AttentionList(props: { readonly attention: readonly Attention[]; readonly isFine: boolean }) {
  const { attention, isFine } = props;
  const [shown, more] = useShownFirst(attention, 10);
  if (attention.length === 0 && !isFine) return null;
  return (
    <section aria-labelledby="attention">
      <Title order={2} id="attention" mb="xs">
        Needs attention
      </Title>
      {attention.length === 0 ? (
        <p className="good" style={{ margin: 0 }}>
          Nothing needs attention.
        </p>
      ) : (
        <ul className="attention">
          {shown.map((each) => (
            <li key={JSON.stringify(each)} className={isUrgent(each) ? "urgent" : undefined}>
              <Words of={each} />
            </li>
          ))}
        </ul>
      )}
      {more}
    </section>
  );
}

const notUrgent = new Set<Attention["kind"]>(["record-differs", "zone-stale", "token-expires", "token-unused"]);
const isUrgent = ({ kind }: Attention): boolean => !notUrgent.has(kind);

function Words({ of }: { readonly of: Attention }): ReactNode {
  switch (of.kind) {
    case "name-failing":
    case "source-down":
    case "record-differs":
      return <UpdaterWords of={of} />;
    case "not-published":
      return <ProviderWords of={of} />;
    case "zone-not-transferred":
    case "zone-expired":
    case "zone-stale":
      return <ZoneWords of={of} />;
    case "ds-mismatch":
    case "ds-missing":
    case "parent-fault":
    case "clock-behind":
    case "signatures-expire":
      return <SigningWords of={of} />;
    case "token-expired":
    case "token-expires":
    case "token-unused":
      return <TokenWords of={of} />;
    default:
      return of satisfies never;
  }
}

type UpdaterAttention = Extract<Attention, { readonly kind: "name-failing" | "source-down" | "record-differs" }>;

function UpdaterWords({ of }: { readonly of: UpdaterAttention }): ReactNode {
  switch (of.kind) {
    case "name-failing":
      return (
        <>
          <b>
            {nameToUnicode(of.name)} {of.type}
          </b>
          : {of.what}: <WithCode text={of.todo === null ? of.because : `${of.because}; ${of.todo}`} />. <UpdaterLink />
        </>
      );
    case "source-down":
      return (
        <>
          The {of.called} <b>{of.source}</b> cannot be read: <WithCode text={of.because} />. <UpdaterLink />
        </>
      );
    case "record-differs":
      return (
        <>
          <Link href={`${zoneAddress(of.zone)}?${new URLSearchParams({ edit: `${of.owner}/${of.type}` })}`}>
            {nameToUnicode(of.name)} {of.type}
          </Link>{" "}
          holds <span className="mono">{of.holds.join(", ") || "nothing"}</span>, but the updater wrote{" "}
          <span className="mono">{of.written}</span>: someone else changed it. <UpdaterLink />
        </>
      );
    default:
      return of satisfies never;
  }
}

function ProviderWords({ of }: { readonly of: Unpublished }): ReactNode {
  return (
    <>
      <Link href={zoneAddress(of.zone, "provider")}>{nameToUnicode(of.zone)}</Link>:{" "}
      <WithCode text={unpublishedInWords(of)} />
      {of.trouble && (
        <>
          {" "}
          That began <When at={of.trouble.since} />.
        </>
      )}
    </>
  );
}

type ZoneAttention = Extract<Attention, { readonly kind: "zone-not-transferred" | "zone-expired" | "zone-stale" }>;

function ZoneWords({ of }: { readonly of: ZoneAttention }): ReactNode {
  switch (of.kind) {
    case "zone-not-transferred":
      return (
        <>
          The secondary zone <ZoneLink zone={of.zone} /> has not been transferred from its primary servers yet, so it is
          not served.
        </>
      );
    case "zone-expired":
      return (
        <>
          The secondary zone <ZoneLink zone={of.zone} /> expired <When at={of.since} />, because its primary servers did
          not respond. It is no longer served.
        </>
      );
    case "zone-stale":
      return (
        <>
          The primary servers of <ZoneLink zone={of.zone} /> last responded <When at={of.checked} />. The zone expires{" "}
          <In at={of.expires} />.
        </>
      );
    default:
      return of satisfies never;
  }
}

type SigningAttention = Extract<
  Attention,
  { readonly kind: "ds-mismatch" | "ds-missing" | "parent-fault" | "clock-behind" | "signatures-expire" }
>;

function SigningWords({ of }: { readonly of: SigningAttention }): ReactNode {
  switch (of.kind) {
    case "ds-mismatch":
      return (
        <>
          Resolvers reject <SigningLink zone={of.zone} />: {of.text}. Replace them at your registrar.
        </>
      );
    case "ds-missing":
      return (
        <>
          Resolvers no longer validate <SigningLink zone={of.zone} />: {of.text}. If you moved the domain to another
          registrar, enter the DS record there.
        </>
      );
    case "parent-fault":
      return (
        <>
          <SigningLink zone={of.zone} />: {of.text}.
        </>
      );
    case "clock-behind":
      return (
        <>
          By the clock of the service, the last change of <SigningLink zone={of.zone} /> is in the future. If that clock
          is wrong, new signatures are not valid: the operator has to correct the clock.
        </>
      );
    case "signatures-expire":
      return (
        <>
          The signatures of <SigningLink zone={of.zone} /> cannot be renewed, and the first one expires on{" "}
          {of.at.slice(0, 10)}. The log of the service says why.
        </>
      );
    default:
      return of satisfies never;
  }
}

type TokenAttention = Extract<Attention, { readonly kind: "token-expired" | "token-expires" | "token-unused" }>;

function TokenWords({ of }: { readonly of: TokenAttention }): ReactNode {
  switch (of.kind) {
    case "token-expired":
      return (
        <>
          The token <Link href="/tokens">{of.token}</Link> expired <When at={of.at} />. Programs that use it are
          refused.
        </>
      );
    case "token-expires":
      return (
        <>
          The token <Link href="/tokens">{of.token}</Link> expires <In at={of.at} />.
        </>
      );
    case "token-unused":
      return (
        <>
          The token <Link href="/tokens">{of.token}</Link> was created <When at={of.created} /> and has never been used.
          Revoke it if nothing needs it.
        </>
      );
    default:
      return of satisfies never;
  }
}

const ZoneLink = ({ zone }: { readonly zone: string }) => <Link href={zoneAddress(zone)}>{nameToUnicode(zone)}</Link>;

const SigningLink = ({ zone }: { readonly zone: string }) => (
  <Link href={zoneAddress(zone, "dnssec")}>{nameToUnicode(zone)}</Link>
);

function UpdaterLink() {
  const updater = useServices().filter(({ service }) => service === "updater");
  return updater.length > 0 && <ServiceLinks services={updater} />;
}

function In({ at }: { readonly at: string }) {
  const now = useNow(60_000);
  return <>in {durationInWords(Date.parse(at) - now)}</>;
}
