/** What people call a service or device, with the word of the config in grey behind it. */
export const KindText = ({ name, code }: { readonly name: string; readonly code: string }) => (
  <>
    {name} <span className="quiet">{code}</span>
  </>
);
