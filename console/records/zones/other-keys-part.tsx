import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import type { RrsetsSigning } from "../../../src/contract/rrsets.ts";
import { CopyText } from "../../shared/copy-text.tsx";
import { SureButton } from "../../shared/sure-button.tsx";
import { When } from "../../shared/time/when.tsx";

/** Keys of another server that also signs the zone: while the zone moves, both answer for it. */
export function OtherKeys(props: {
  readonly dnssec: RrsetsSigning;
  readonly busy: boolean;
  readonly publish: (dnskeys: string) => void;
  readonly withdraw: (tag: number) => void;
}) {
  const { keys, other_keys: others } = props.dnssec;
  const [typed, setTyped] = useState("");
  return (
    <details open={others.length > 0}>
      <summary>{others.length > 0 ? "Keys of another server" : "Move the zone to or from another server…"}</summary>
      <Stack gap="xs" mt="xs">
        <Text size="sm">
          A signed zone can move without being unsigned. While both servers answer for it, each publishes the other’s
          keys, and the parent has DS records for both.
        </Text>
        {others.map((key) => (
          <OtherKey key={key.key_tag} of={key} busy={props.busy} onWithdraw={() => props.withdraw(key.key_tag)} />
        ))}
        {others.length > 0 && (
          <>
            <Text size="sm">
              Withdraw a key only when no resolver still queries the other server or has its answers cached.
            </Text>
            <Text size="sm">The other server must publish this:</Text>
            {keys
              .filter((key) => key.published)
              .map((key) => (
                <CopyText key={key.key_tag} text={key.dnskey} label={`the DNSKEY record ${key.key_tag}`} />
              ))}
          </>
        )}
        <Textarea
          label="DNSKEY records of the other server"
          placeholder="257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0d…"
          description="Public keys only, one per line, as dig prints them. Private keys are imported with moor dnssec on --key."
          autosize
          minRows={2}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Group>
          <Button
            variant="default"
            loading={props.busy}
            disabled={typed.trim() === ""}
            onClick={() => {
              props.publish(typed);
              setTyped("");
            }}
          >
            Publish these keys too
          </Button>
        </Group>
      </Stack>
    </details>
  );
}

function OtherKey(props: {
  readonly of: RrsetsSigning["other_keys"][number];
  readonly busy: boolean;
  readonly onWithdraw: () => void;
}) {
  const { key_tag: tag, added, ds, ds_wanted: dsWanted } = props.of;
  return (
    <Stack gap={4}>
      <Group gap="xs" justify="space-between">
        <Text size="sm">
          <strong>Key {tag}</strong>, published here since <When at={added} />
          {dsWanted ? "; the parent needs its DS record" : "; it needs no DS record"}
        </Text>
        <SureButton
          size="compact-sm"
          ask="Withdraw…"
          sure="Withdraw it"
          what={`the key ${tag}`}
          loading={props.busy}
          onSure={props.onWithdraw}
        />
      </Group>
      {ds && <CopyText text={ds} label={`the DS record ${tag}`} />}
    </Stack>
  );
}
