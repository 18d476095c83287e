import { Button, Checkbox, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "wouter";
import type { MadeToken, TokenEntry, TokenInput } from "../../../src/contract/console.ts";
import { absoluteName } from "../../../src/core/names/name.ts";
import { nameToUnicode } from "../../../src/core/names/unicode.ts";
import { CheckedForm } from "../../shared/checked-form.tsx";
import { Problem } from "../../shared/live/problem.tsx";
import { useSession } from "../../shared/session/session.tsx";
import { type Device, deviceNames, typedOrigin } from "./device-setups.ts";
import { DeviceStep } from "./device-step.tsx";
import { addressesIn } from "./first-update.ts";
import type { MadeName, NewNameInput } from "./made-name.ts";
import { NameStep, usePrimaryZones } from "./name-step.tsx";
import { useSetsAt } from "./sets-at.ts";
import { ShownSetup } from "./shown-setup.tsx";
import { ownerIn, zoneIn } from "./typed-name.ts";

/**
 * From a name to a device that updates it: a token for exactly this name, what to enter where, and the first update as
 * it arrives.
 */
export default function DynamicPage() {
  const [made, setMade] = useState<MadeName>();
  return (
    <Stack gap="lg" maw="46rem">
      <div>
        <Title order={1}>New dynamic name</Title>
        <Text c="dimmed" size="sm">
          A name that follows the changing address of your internet connection.
        </Text>
      </div>
      {made ? <ShownSetup made={made} /> : <NewNameForm onMade={setMade} />}
    </Stack>
  );
}

function NewNameForm({ onMade }: { readonly onMade: (made: MadeName) => void }) {
  const [query] = useSearchParams();
  const zones = usePrimaryZones();
  const [chosen, setChosen] = useState(query.get("zone"));
  const [typed, setTyped] = useState(query.get("name") ?? "");
  const only = zones.names.length === 1 ? zones.names[0] : undefined;
  const zone = chosen ?? zoneIn(typed, zones.names) ?? only ?? null;
  const [device, setDevice] = useState<Device>("fritzbox");
  const [address, setAddress] = useState(location.origin);
  const [tried, setTried] = useState(false);
  const owner = zone === null ? undefined : ownerIn(typed, zone);
  const origin = typedOrigin(address);
  const there = useSetsAt(zone, owner?.ok ? owner.value : undefined);
  const [replaces, setReplaces] = useState(true);
  const findEarlier = useEarlierToken();
  const earlier = zone !== null && owner?.ok ? findEarlier({ zone, owner: owner.value, device }) : undefined;
  const make = useMakeName(there, { replaced: replaces ? findEarlier : undefined, onMade });
  const submit = () => {
    setTried(true);
    if (zone === null || !owner?.ok || origin === undefined) return;
    make.mutate({ zone, owner: owner.value, device, origin });
  };
  return (
    <CheckedForm isPending={make.isPending} onSubmit={submit}>
      <Stack gap="lg">
        <NameStep
          {...{ typed, zone, owner, tried }}
          there={there.data}
          onTyped={setTyped}
          onZone={setChosen}
          error={zones.error ?? there.error}
          retry={zones.error ? zones.retry : () => void there.refetch()}
        />
        <DeviceStep {...{ device, address, origin, tried }} onDevice={setDevice} onAddress={setAddress} />
        {earlier && (
          <Checkbox
            label="Replace the settings of this device"
            description="It has a token already. That one is revoked when the new one is made, so the device works again once you have entered the new settings."
            checked={replaces}
            onChange={(event) => setReplaces(event.currentTarget.checked)}
          />
        )}
        <Problem error={make.error} />
        <div>
          <Button type="submit" loading={make.isPending}>
            Create token and show the settings
          </Button>
        </div>
      </Stack>
    </CheckedForm>
  );
}

type FindEarlier = (input: Pick<NewNameInput, "zone" | "owner" | "device">) => TokenEntry | undefined;

function useMakeName(
  there: ReturnType<typeof useSetsAt>,
  { replaced, onMade }: { readonly replaced: FindEarlier | undefined; readonly onMade: (made: MadeName) => void },
) {
  const { request } = useSession();
  const queries = useQueryClient();
  /** Why the token is still in force. */
  const revoke = async ({ id }: TokenEntry): Promise<string | undefined> => {
    try {
      await request("DELETE", `/console/tokens/${id}`);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  return useMutation({
    mutationFn: async (input: Omit<NewNameInput, "before">) => {
      // Enter can be faster than the answer about the name.
      const sets = there.data ?? (await there.refetch()).data;
      if (sets === undefined || sets.some(({ type }) => type === "CNAME")) return undefined;
      const made = await request<MadeToken>("POST", "/console/tokens", tokenFor(input));
      const earlier = replaced?.(input);
      // The new secret is shown whatever becomes of the earlier token.
      const notRevoked = earlier && (await revoke(earlier));
      void queries.invalidateQueries({ queryKey: ["tokens"] });
      return { ...input, ...made, before: addressesIn(sets), ...(notRevoked && { notRevoked }) };
    },
    onSuccess: (made) => made && onMade(made),
  });
}

/** The token in force that this page has made before for the same name and device. */
function useEarlierToken(): FindEarlier {
  const { request } = useSession();
  const tokens = useQuery({
    queryKey: ["tokens"],
    queryFn: () => request<{ readonly tokens: readonly TokenEntry[] }>("GET", "/console/tokens"),
  });
  return (input) =>
    tokens.data?.tokens.findLast(({ name, revoked }) => revoked === null && name === tokenFor(input).name);
}

/** For exactly the addresses of this name. */
function tokenFor({ zone, owner, device }: Pick<NewNameInput, "zone" | "owner" | "device">): TokenInput {
  const label = deviceNames.find(({ value }) => value === device)?.label ?? device;
  return {
    name: `${nameToUnicode(absoluteName(owner, zone)).slice(0, 80)} (${label})`,
    scope: { access: "write", zones: [zone], sets: [{ owner, types: ["A", "AAAA"] }] },
  };
}
