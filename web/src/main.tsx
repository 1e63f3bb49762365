import './theme/styles.ts';
import { createRoot } from 'react-dom/client';
import { Connectivity } from './api/connectivity.ts';
import { createQueryClient } from './api/queryClient.ts';
import { App } from './app/App.tsx';
import { createConsoleRouter } from './app/router.tsx';
import { createTranslator, loadRest } from './i18n/index.ts';
import { takeLoginCode, takeSsoReason } from './lib/fragment.ts';

const root = document.getElementById('root');
if (root) {
  const loginCode = takeLoginCode(window.location, window.history);
  const ssoReason = takeSsoReason(window.location, window.history);
  const connectivity = new Connectivity();
  const start = async () => {
    const translator = await createTranslator();
    createRoot(root).render(
      <App
        loginCode={loginCode}
        ssoReason={ssoReason}
        translator={translator}
        connectivity={connectivity}
        queryClient={createQueryClient(connectivity)}
        router={createConsoleRouter(() => loadRest(translator))}
      />,
    );
  };
  // Before the console is shown, boot.js reports failures.
  start().catch(() => window.dispatchEvent(new Event('carillon-boot-failed')));
}
