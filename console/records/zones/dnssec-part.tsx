import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import type { RrsetsSigning, RrsetsZone } from "../../../src/contract/rrsets.ts";
import { stageEnd } from "../../../src/core/dnssec/stage-end.ts";
import { CopyText } from "../../shared/copy-text.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { usePassingError } from "../../shared/live/use-passing-error.ts";
import { Waiting } from "../../shared/live/waiting.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { SureButton } from "../../shared/sure-button.tsx";
import { useNow, When } from "../../shared/time/when.tsx";
import { dayAndTime, durationInWords } from "../../shared/time/words-of-time.ts";
import { writeZone, zonePath } from "../api.ts";
import { useEverySet } from "../sets/read-sets.ts";
import "./dnssec-part.css";
import { OtherKeys } from "./other-keys-part.tsx";

type Act = {
  readonly action: "sign" | "roll_key" | "unsign" | "keep_signed" | "change_denial" | "publish_keys" | "withdraw_keys";
  readonly body?: object;
};

/** Signing the zone, and what the registrar needs for it. */
export default function DnssecPart({ zone }: { readonly zone: RrsetsZone }) {
  const { request } = useSession();
  const queries = useQueryClient();
  const queryKey = ["zone", zone.name, "dnssec"];
  const read = useQuery({
    queryKey,
    queryFn: () => request<{ dnssec: RrsetsSigning }>("GET", `${zonePath(zone.name)}/dnssec`),
    // The stage changes without a write by a user.
    refetchInterval: 30_000,
  });
  const write = usePassingError(
    useMutation({
      mutationFn: ({ action, body = {} }: Act) =>
        writeZone<{ dnssec: RrsetsSigning }>(request, "POST", `${zonePath(zone.name)}/actions/${action}`, body),
      onSuccess: async ({ dnssec }) => {
        queries.setQueryData(queryKey, { dnssec });
        // The answer to a long write shows the zone as it was before.
        await queries.invalidateQueries({ queryKey });
      },
    }),
  );
  const dnssec = read.data?.dnssec;
  const act = { busy: write.isPending, run: (each: Act) => write.mutate(each) };
  return (
    // Gets the focus when the button that was pressed is gone: the next Tab reaches the DS record.
    <Stack gap="sm" tabIndex={-1} style={{ outline: "none" }}>
      <Problem error={read.error} retry={() => void read.refetch()} />
      {read.isPending && <Waiting />}
      {dnssec && !dnssec.signed && <Unsigned act={act} />}
      {dnssec?.signed && <Signed zone={zone} dnssec={dnssec} act={act} />}
      <Problem error={write.error} />
    </Stack>
  );
}

type Acting = { readonly busy: boolean; readonly run: (act: Act) => void };

const kinds = [
  { value: "ecdsa-p256", label: "ECDSA P-256 (usual)" },
  { value: "ed25519", label: "Ed25519" },
];

function Unsigned({ act }: { readonly act: Acting }) {
  const [algorithm, setAlgorithm] = useState("ecdsa-p256");
  const [denial, setDenial] = useState("nsec");
  return (
    <>
      <Text size="sm">
        The zone is not signed. After signing, this page shows a DS record for your registrar; until the registrar has
        it, nothing changes for visitors.
      </Text>
      <Group align="flex-end">
        <Select
          label="Algorithm"
          data={kinds}
          value={algorithm}
          onChange={(value) => setAlgorithm(value ?? algorithm)}
          allowDeselect={false}
        />
        <Select
          label="Proof that a name does not exist"
          data={[
            { value: "nsec", label: "NSEC (usual)" },
            { value: "nsec3", label: "NSEC3: makes names hard to list" },
          ]}
          value={denial}
          onChange={(value) => setDenial(value ?? denial)}
          allowDeselect={false}
        />
        <Button loading={act.busy} onClick={() => act.run({ action: "sign", body: { algorithm, denial } })}>
          Sign the zone
        </Button>
      </Group>
    </>
  );
}

type SignedProps = { readonly zone: RrsetsZone; readonly dnssec: RrsetsSigning; readonly act: Acting };

function Signed({ zone, dnssec, act }: SignedProps) {
  const { stage, keys } = dnssec;
  const wanted = keys.filter((key) => key.ds_wanted);
  return (
    <>
      <Stages zone={zone} dnssec={dnssec} />
      {stage === "leaving" && (
        <Text size="sm" className="warn">
          A CDS record asks the parent to remove the DS record. If that does not happen automatically, remove it at your
          registrar. The zone stays signed until the DS record has expired from caches. If you unsign it earlier,
          resolvers reject the zone.
        </Text>
      )}
      {stage === "new" && (
        <Text size="sm" className="warn">
          Resolvers may still have unsigned records of this zone cached. Wait for the next stage before you give the DS
          record to your registrar. A CDS record then also asks the parent for it automatically.
        </Text>
      )}
      {wanted.map((key) => (
        <ForRegistrar key={key.key_tag} of={key} stage={stage} />
      ))}
      <SigningActions dnssec={dnssec} act={act} />
      {stage !== "leaving" && (
        <OtherKeys
          dnssec={dnssec}
          busy={act.busy}
          publish={(text) => act.run({ action: "publish_keys", body: { dnskeys: [text] } })}
          withdraw={(tag) => act.run({ action: "withdraw_keys", body: { key_tags: [tag] } })}
        />
      )}
    </>
  );
}

function SigningActions({ dnssec, act }: Omit<SignedProps, "zone">) {
  const { stage } = dnssec;
  const otherDenial = dnssec.denial === "nsec3" ? "nsec" : "nsec3";
  return (
    <Group>
      {stage === "secure" && (
        <Button variant="default" loading={act.busy} onClick={() => act.run({ action: "roll_key" })}>
          Replace the key
        </Button>
      )}
      <Button
        variant="default"
        loading={act.busy}
        onClick={() => act.run({ action: "change_denial", body: { denial: otherDenial } })}
      >
        Change to {otherDenial.toUpperCase()}
      </Button>
      {stage !== "leaving" && dnssec.other_keys.length === 0 && (
        <SureButton
          ask="Switch DNSSEC off…"
          sure="Ask the parent to remove the DS record"
          loading={act.busy}
          onSure={() => act.run({ action: "unsign" })}
        />
      )}
      {stage === "leaving" && (
        <Button variant="default" loading={act.busy} onClick={() => act.run({ action: "keep_signed" })}>
          Keep the zone signed
        </Button>
      )}
      {stage === "leaving" && (
        <SureButton
          ask="Unsign without waiting…"
          sure="Unsign now, even if resolvers reject the zone"
          loading={act.busy}
          onSure={() => act.run({ action: "unsign", body: { immediately: true } })}
        />
      )}
    </Group>
  );
}

const firstSteps = [
  { stage: "", name: "Signed" },
  { stage: "new", name: "No unsigned records in caches" },
  { stage: "new-parent", name: "DS record at the parent" },
];
const leavingSteps = [
  { stage: "leaving", name: "DS record removed" },
  { stage: "", name: "Unsigned" },
];
const rollSteps = [
  { stage: "roll-show", name: "New key published" },
  { stage: "roll-parent", name: "DS record replaced" },
  { stage: "roll-sign", name: "New key signs" },
  { stage: "secure", name: "Old key removed" },
];
const algorithmSteps = [
  { stage: "algorithm-sign", name: "New key signs too" },
  { stage: "algorithm-show", name: "New key published" },
  { stage: "algorithm-parent", name: "DS record replaced" },
  { stage: "algorithm-hide", name: "Old key no longer published" },
  { stage: "secure", name: "Old key removed" },
];

function stepsOf(stage: string) {
  if (stage.startsWith("roll-")) return rollSteps;
  if (stage.startsWith("algorithm-")) return algorithmSteps;
  return stage === "leaving" ? leavingSteps : firstSteps;
}

/** All stages, with the current one marked, and what it waits for. */
function Stages({ zone, dnssec }: Omit<SignedProps, "act">) {
  const stage = dnssec.stage ?? "";
  const steps = stepsOf(stage);
  const at = steps.findIndex((step) => step.stage === stage);
  const since = dnssec.parent_since ?? dnssec.since;
  const sets = useEverySet(zone).data?.sets;
  const highest = sets?.reduce((most, { ttl }) => Math.max(most, ttl ?? 0), zone.ttl);
  const ends = since && highest !== undefined ? stageEnd(stage, Date.parse(since), highest) : undefined;
  return (
    <>
      <ol className="stages" aria-label="Stages">
        {steps.map((step, i) => (
          <li key={step.name} aria-current={i === at ? "step" : undefined} data-done={i < at || stage === "secure"}>
            {step.name}
          </li>
        ))}
      </ol>
      <Text size="sm" role="status">
        {capital(dnssec.stage_text ?? "")}
        {since && (
          <>
            {" "}
            (since <When at={since} />)
          </>
        )}
        .{ends !== undefined && <Until at={ends} />}
      </Text>
      {dnssec.parent_fault && (
        <Text size="sm" role="alert">
          {capital(dnssec.parent_fault.text)} (since <When at={dnssec.parent_fault.since} />
          ).
        </Text>
      )}
    </>
  );
}

function Until({ at }: { readonly at: number }) {
  const left = at - useNow(15_000);
  if (left <= 0) return " The next stage begins within minutes.";
  return (
    <>
      {" "}
      The next stage begins in {durationInWords(left)}, at{" "}
      <time dateTime={new Date(at).toISOString()}>{dayAndTime(at)}</time>.
    </>
  );
}

/** Stages in which the parent still has the DS record of the old key. */
const replacing: ReadonlySet<string> = new Set(["roll-parent", "algorithm-parent"]);

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

function ForRegistrar(props: { readonly of: RrsetsSigning["keys"][number]; readonly stage: string | null }) {
  const { key_tag, algorithm, algorithm_name, digest_type, digest, ds, dnskey } = props.of;
  const handOver = replacing.has(props.stage ?? "")
    ? "Give this to your registrar, to replace the old DS record"
    : "Give this to your registrar";
  const waiting = props.stage === "new" ? "For your registrar, at the next stage" : handOver;
  const title = props.stage === "secure" ? `DS record ${key_tag}` : waiting;
  const fields = [
    ["Key tag", String(key_tag)],
    ["Algorithm", `${algorithm} (${algorithm_name})`],
    ["Digest type", `${digest_type} (SHA-256)`],
  ] as const;
  return (
    <details open={props.stage !== "secure"}>
      <summary>{title}</summary>
      <Stack gap="xs" mt="xs">
        <Text size="sm">As a DS record:</Text>
        <CopyText text={ds} label="the DS record" />
        <Text size="sm">Field by field:</Text>
        <dl className="facts">
          {fields.map(([name, value]) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd className="mono">{value}</dd>
            </Fragment>
          ))}
          <dt>Digest</dt>
          <dd>
            <CopyText text={digest} label="the digest" />
          </dd>
        </dl>
        <Text size="sm">As a DNSKEY record (flags 257, protocol 3):</Text>
        <CopyText text={dnskey} label="the DNSKEY record" />
      </Stack>
    </details>
  );
}
