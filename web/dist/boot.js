// Runs before the first paint: sets the colour scheme, and reports if the console cannot be loaded. A file of its own,
// because the content security policy allows no inline script.
(function () {
  function stored(area, key) {
    try {
      return area().getItem(key);
    } catch {
      return null; // Storage may be blocked.
    }
  }
  var local = function () { return window.localStorage; };
  var session = function () { return window.sessionStorage; };

  var wanted = stored(local, 'carillon-color-scheme') || 'auto';
  var dark = wanted === 'dark' || (wanted !== 'light' && window.matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');

  // After an upgrade, a cached page or another master may refer to files that are gone: a new page refers to others.
  var reloaded = 'carillon-boot-reload';
  function reloadOnce() {
    if (Date.now() - Number(stored(session, reloaded) || 0) < 60000) return false;
    try {
      window.sessionStorage.setItem(reloaded, String(Date.now()));
    } catch {
      return false;
    }
    window.location.reload();
    return true;
  }

  function report() {
    var frame = document.querySelector('#root > .boot');
    // Once the console is shown, it reports failures itself.
    if (!frame || frame.hasAttribute('data-failed') || reloadOnce()) return;
    var language = stored(local, 'carillon-language') || navigator.language || 'en';
    var chinese = language.toLowerCase().indexOf('zh') === 0;
    var button = document.createElement('button');
    button.type = 'button';
    button.textContent = chinese ? '重新加载' : 'Reload';
    button.addEventListener('click', function () { window.location.reload(); });
    frame.setAttribute('data-failed', '');
    frame.querySelector('p').textContent = chinese ? '控制台未能载入。' : 'The console could not be loaded.';
    frame.appendChild(button);
  }

  window.addEventListener('error', function (event) {
    var of = event.target && event.target.tagName;
    if (of === 'SCRIPT' || of === 'LINK') report();
  }, true);
  window.addEventListener('carillon-boot-failed', report);
})();
