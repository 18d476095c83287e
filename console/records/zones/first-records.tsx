import { Button, Checkbox, Group, Radio, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { parseIpv4, parseIpv6 } from "../../../src/core/addresses/address.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { parseRdata } from "../../../src/core/rdata/rdata.ts";
import { CheckedForm } from "../../shared/checked-form.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import type { Request } from "../../shared/live/request.ts";
import { useSession } from "../../shared/session/session.tsx";
import { readSet, zonePath } from "../api.ts";

type NewSet = { readonly name: string; readonly type: string; readonly values: readonly string[] };

/**
 * Writes all sets together. Sets that exist keep their values, and a second SPF text, which would make both invalid, is
 * not added.
 */
async function addSets(request: Request, zone: string, sets: readonly NewSet[]): Promise<void> {
  const changes = await Promise.all(
    sets.map(async ({ name, type, values }) => {
      const kept = (await readSet(request, zone, { name, type }))?.records ?? [];
      const hasSpf = kept.some(({ value }) => isSpf(value));
      const added = values.filter((value) => !(hasSpf && isSpf(value)) && kept.every((each) => each.value !== value));
      return added.length === 0 ? [] : [{ name, type, records: [...kept, ...added.map((value) => ({ value }))] }];
    }),
  );
  await request("POST", `${zonePath(zone)}/changes`, { changes: changes.flat() });
}

const isSpf = (value: string): boolean => /^"v=spf1[ "]/i.test(value);

function useAdd(zone: string) {
  const { request } = useSession();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (sets: readonly NewSet[]) => addSets(request, zone, sets),
    onSuccess: () => queries.invalidateQueries(),
  });
}

function AddForm(props: {
  readonly adding: { readonly isPending: boolean; readonly error: Error | null };
  readonly submit: string;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}) {
  return (
    <CheckedForm isPending={props.adding.isPending} onSubmit={props.onSubmit}>
      <Stack gap="xs" maw="36rem">
        {props.children}
        <Problem error={props.adding.error} />
        <div>
          <Button type="submit" variant="default" loading={props.adding.isPending}>
            {props.submit}
          </Button>
        </div>
      </Stack>
    </CheckedForm>
  );
}

/** Addresses for the zone's own name, and optionally for `www`. */
export function WebsiteForm({ zone }: { readonly zone: string }) {
  const add = useAdd(zone);
  const [ipv4, setIpv4] = useState("");
  const [ipv6, setIpv6] = useState("");
  const [withWww, setWithWww] = useState(true);
  const [tried, setTried] = useState(false);
  const four = parseIpv4(ipv4.trim());
  const six = parseIpv6(ipv6.trim());
  const isGood = (ipv4.trim() === "" || four) && (ipv6.trim() === "" || six) && (four || six);
  const submit = () => {
    setTried(true);
    if (!isGood) return;
    add.mutate([
      ...(four ? [{ name: "@", type: "A", values: [four.text] }] : []),
      ...(six ? [{ name: "@", type: "AAAA", values: [six.text] }] : []),
      ...(withWww ? [{ name: "www", type: "CNAME", values: [`${zone}.`] }] : []),
    ]);
  };
  const none = tried && ipv4.trim() === "" && ipv6.trim() === "" ? "enter at least one address" : undefined;
  return (
    <AddForm adding={add} submit="Add website records" onSubmit={submit}>
      <Group gap="sm" align="flex-start">
        <TextInput
          label="Web server (IPv4)"
          placeholder="192.0.2.10"
          value={ipv4}
          onChange={(event) => setIpv4(event.currentTarget.value)}
          error={none ?? (tried && ipv4.trim() !== "" && !four ? "this is not an IPv4 address" : undefined)}
          classNames={{ input: "mono" }}
          style={{ flex: "1 1 12rem" }}
        />
        <TextInput
          label="Web server (IPv6), if it has one"
          placeholder="2001:db8::10"
          value={ipv6}
          onChange={(event) => setIpv6(event.currentTarget.value)}
          error={tried && ipv6.trim() !== "" && !six ? "this is not an IPv6 address" : undefined}
          classNames={{ input: "mono" }}
          style={{ flex: "1 1 12rem" }}
        />
      </Group>
      <Checkbox
        label={`www.${nameToUnicode(zone)} has the same addresses`}
        checked={withWww}
        onChange={(event) => setWithWww(event.currentTarget.checked)}
      />
    </AddForm>
  );
}

/** A domain without mail should publish that: otherwise others can send mail in its name. */
export function MailForm({ zone }: { readonly zone: string }) {
  const add = useAdd(zone);
  const [way, setWay] = useState("none");
  const [server, setServer] = useState("");
  const [spf, setSpf] = useState("v=spf1 mx -all");
  const [tried, setTried] = useState(false);
  const host = `${server.trim().toLowerCase().replace(/\.$/, "")}.`;
  const mx = `10 ${host}`;
  const isServer = server.trim().includes(".") && parseRdata("MX", mx, zone).ok;
  const isSpfText = /^v=spf1( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(spf.trim());
  const submit = () => {
    setTried(true);
    if (way === "none") {
      add.mutate([
        { name: "@", type: "MX", values: ["0 ."] },
        { name: "@", type: "TXT", values: ['"v=spf1 -all"'] },
      ]);
    } else if (isServer && isSpfText) {
      add.mutate([
        { name: "@", type: "MX", values: [mx] },
        { name: "@", type: "TXT", values: [`"${spf.trim()}"`] },
      ]);
    }
  };
  return (
    <AddForm adding={add} submit="Add mail records" onSubmit={submit}>
      <Radio.Group value={way} onChange={setWay} aria-label="Mail">
        <Stack gap={6}>
          <Radio value="none" label="This domain neither receives nor sends mail" />
          <Radio value="provider" label="A mail server or provider handles its mail" />
        </Stack>
      </Radio.Group>
      {way === "provider" && (
        <Group gap="sm" align="flex-start">
          <TextInput
            label="Mail server"
            description="The full name that your provider gives you"
            placeholder="mail.provider.example"
            value={server}
            onChange={(event) => setServer(event.currentTarget.value)}
            error={tried && !isServer ? "enter the full name of a server, not an address" : undefined}
            classNames={{ input: "mono" }}
            style={{ flex: "1 1 12rem" }}
          />
          <TextInput
            label="Who may send mail (SPF)"
            description="Your provider may tell you to use another text"
            value={spf}
            onChange={(event) => setSpf(event.currentTarget.value)}
            error={tried && !isSpfText ? "must begin with v=spf1" : undefined}
            classNames={{ input: "mono" }}
            style={{ flex: "1 1 12rem" }}
          />
        </Group>
      )}
    </AddForm>
  );
}
