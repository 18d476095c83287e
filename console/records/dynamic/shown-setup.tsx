import { Anchor, Button, Group, Loader, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import type { TokenPage } from "../../../src/contract/console.ts";
import { absoluteName } from "../../../src/core/names/name.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { CopyText } from "../../shared/copy-text.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { scopeInWords } from "../tokens/scope-in-words.ts";
import { zoneAddress } from "../zones/zone-address.ts";
import { type Device, deviceNames, type Setup, setupFor, type Trust } from "./device-setups.ts";
import { addressesIn, type FirstUpdate, firstUpdate } from "./first-update.ts";
import { HeldSecret } from "./held-secret.tsx";
import type { MadeName } from "./made-name.ts";
import { useSetsAt } from "./sets-at.ts";
import { Step } from "./step.tsx";

/** What to enter in the device, with the token, and whether its first update has arrived. */
export function ShownSetup({ made }: { readonly made: MadeName }) {
  const { device, token, zone, owner } = made;
  const setup = setupFor(device, made);
  const label = deviceNames.find(({ value }) => value === device)?.label ?? device;
  const [isKept, setKept] = useState(false);
  const onKept = useCallback(() => setKept(true), []);
  const arrived = useFirstUpdate(made);
  const first = useRef<HTMLDivElement>(null);
  // The button that was pressed, at the end of a page that may have been scrolled, is gone.
  useEffect(() => {
    scrollTo(0, 0);
    first.current?.querySelector("button")?.focus({ preventScroll: true });
  }, []);
  return (
    <Stack gap="lg" ref={first}>
      <HeldSecret isHeld={!isKept && arrived.kind === "waiting"}>
        The token is shown only on this page, and the device has not used it yet. If you leave now, you have to make new
        settings for the device.
      </HeldSecret>
      <Step number={3} title={`Enter this in ${placeInWords(device, label)}`}>
        <Text size="sm">{setup.where}</Text>
        <Entries setup={setup} secret={made.secret} onKept={onKept} />
        {setup.notes.map((note) => (
          <Text key={note} size="sm">
            {note}
          </Text>
        ))}
        <TrustNote trust={setup.trust} />
        <Text size="sm" c="dimmed">
          The long text of letters and digits is the token: it {scopeInWords(token.scope)}, and nothing else.{" "}
          <b>It is shown only here.</b>
        </Text>
        <NotRevoked because={made.notRevoked} />
      </Step>
      <Step number={4} title="First update" className="in-view">
        <Arrived update={arrived} name={nameToUnicode(absoluteName(owner, zone))} />
        <Group gap="sm">
          <Button component={Link} href="/" variant={arrived.kind === "waiting" ? "default" : "filled"}>
            {arrived.kind === "waiting" ? "Finish without waiting" : "Finish"}
          </Button>
          <Text size="sm">
            <Link href={zoneAddress(zone)}>Records of {nameToUnicode(zone)}</Link>
          </Text>
        </Group>
      </Step>
    </Stack>
  );
}

/** The FRITZ!Box is one thing; the others are programs and systems, without an article. */
function placeInWords(device: Device, label: string): string {
  if (device === "moor") return "moor’s config";
  return device === "fritzbox" ? `the ${label}` : label;
}

/** What to enter; copying anything but the token does not keep that. */
function Entries(props: { readonly setup: Setup; readonly secret: string; readonly onKept: () => void }) {
  const { setup, secret, onKept } = props;
  return (
    <>
      <div className="to-enter">
        {setup.fields.map(({ label, value }) => (
          <div key={label}>
            <Text size="sm" fw={550}>
              {label}
            </Text>
            <CopyText text={value} label={label} {...(value.includes(secret) && { onCopied: onKept })} />
          </div>
        ))}
      </div>
      {setup.text && <CopyText text={setup.text.content} label={setup.text.label} block onCopied={onKept} />}
    </>
  );
}

const NotRevoked = ({ because }: { readonly because: string | undefined }) =>
  because && (
    <p className="note" role="alert" style={{ margin: 0 }}>
      The earlier token of this device could not be revoked ({because}). Revoke it on the page{" "}
      <Link href="/tokens">Tokens</Link>.
    </p>
  );

function TrustNote({ trust }: { readonly trust: Trust }) {
  if (trust === "unchecked") return null;
  return (
    <Text size="sm">
      {trust === "file" ? (
        <>
          Save the{" "}
          <Anchor href="/console/ca.pem" download="moor-ca.pem" size="sm">
            service’s certificate (moor-ca.pem)
          </Anchor>{" "}
          on the device, at the path above. Leave out that setting if the service has a publicly trusted certificate.
        </>
      ) : (
        <>
          The device checks the certificate of this service: it must be a publicly trusted one, as with{" "}
          <code>moor records --acme</code>, or the device must trust the{" "}
          <Anchor href="/console/ca.pem" download="moor-ca.pem" size="sm">
            service’s own authority (moor-ca.pem)
          </Anchor>
          .
        </>
      )}
    </Text>
  );
}

function useFirstUpdate({ zone, owner, before, token }: MadeName): FirstUpdate {
  const { request } = useSession();
  const there = useSetsAt(zone, owner);
  // The use of a token is not pushed.
  const tokens = useQuery({
    queryKey: ["tokens"],
    queryFn: () => request<TokenPage>("GET", "/console/tokens?all"),
    staleTime: 0,
    refetchInterval: 3_000,
  });
  const used = tokens.data?.tokens.find(({ id }) => id === token.id);
  return firstUpdate(before, there.data && addressesIn(there.data), used);
}

function Arrived({ update, name }: { readonly update: FirstUpdate; readonly name: string }) {
  switch (update.kind) {
    case "waiting":
      return (
        <Group gap="sm" wrap="nowrap" role="status">
          <Loader size="sm" aria-hidden />
          <Text size="sm">
            Waiting for the first update of <b className="breaks">{name}</b>. It appears here as soon as it arrives.
          </Text>
        </Group>
      );
    case "no-address":
      return (
        <p className="note" role="status" style={{ margin: 0 }}>
          The device has signed in with its token, but has not sent an address for <b>{name}</b>. Check that its host
          name is exactly this.
        </p>
      );
    case "arrived":
    case "same":
      return (
        <p className="note good-note" role="status" style={{ margin: 0 }}>
          <b>
            {name} → {update.addresses.join(", ")}
          </b>
          . {update.kind === "same" && "This address was already stored. "}It works.
        </p>
      );
    default:
      return update satisfies never;
  }
}
