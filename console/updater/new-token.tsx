import { Button, Group, PasswordInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { TokenPlace } from "../../src/contract/updater-page.ts";
import { Problem } from "../shared/live/problem.tsx";
import { useSession } from "../shared/session/session.tsx";
import { WithCode } from "../shared/with-code.tsx";

/** A field for the new token of a record service that refuses the current one; or what to change where. */
export function NewToken({ service, mayChange }: { readonly service: string; readonly mayChange: boolean }) {
  const { request } = useSession();
  const places = useQuery({
    queryKey: ["tokens"],
    queryFn: () => request<{ readonly places: readonly TokenPlace[] }>("GET", "/page/tokens"),
  });
  const place = places.data?.places.find((each) => each.service === service);
  if (place === undefined) return null;
  if (place.kind === "elsewhere") return <WithCode text={place.todo} />;
  if (!mayChange) return <>Put a new token into {place.file}.</>;
  return <TokenField service={service} file={place.file} />;
}

function TokenField({ service, file }: { readonly service: string; readonly file: string }) {
  const { request } = useSession();
  const queries = useQueryClient();
  const [token, setToken] = useState("");
  const write = useMutation({
    mutationFn: () => request("POST", "/page/token", { service, token }),
    onSuccess: async () => {
      setToken("");
      await queries.invalidateQueries();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== "") write.mutate();
      }}
    >
      <Group align="flex-end" gap="xs" mt="xs">
        <PasswordInput
          label={`New token for ${service}`}
          description={`It replaces the one in ${file}, and is not shown again.`}
          value={token}
          onChange={(event) => {
            setToken(event.currentTarget.value);
            if (!write.isPending) write.reset();
          }}
          autoComplete="off"
          spellCheck={false}
          visibilityToggleButtonProps={{ "aria-label": "Show what I typed" }}
          style={{ flex: "0 1 26rem" }}
        />
        <Button type="submit" loading={write.isPending} disabled={token.trim() === ""}>
          Use this token
        </Button>
      </Group>
      <Problem error={write.error} />
      {write.isSuccess && <p role="status">Saved. The updater tries it now.</p>}
    </form>
  );
}
