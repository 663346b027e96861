// Synthesizes the stack: `npx cdk --app 'node infra/aws/app.ts' deploy`. Needs a Node that runs TypeScript (24).
import { App } from 'aws-cdk-lib'
import { Img42Stack } from './stack.ts'

const app = new App()
new Img42Stack(app, 'img42')
app.synth()
