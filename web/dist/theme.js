// Sets the colour scheme before the first paint. A file of its own, because the content security policy allows no inline script.
(function () {
  var wanted = 'auto';
  try {
    wanted = window.localStorage.getItem('carillon-color-scheme') || 'auto';
  } catch {
    // Storage may be blocked; the system's choice then stands.
  }
  var dark = wanted === 'dark' || (wanted !== 'light' && window.matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
