export const ServiceGone = () => (
  <main className="main">
    <ServiceGoneNote />
  </main>
);

export const ServiceGoneNote = () => (
  <p className="note" role="status">
    The service is not responding. It may be restarting; this page keeps trying.
  </p>
);
