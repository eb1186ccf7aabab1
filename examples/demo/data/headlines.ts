/** Occupations, each with its skills. */
export const trades: ReadonlyArray<{ role: string, skills: readonly string[] }> = [
  { role: 'Backend Engineer', skills: ['Go', 'Node.js', 'PostgreSQL', 'Kafka'] },
  { role: 'Frontend Engineer', skills: ['React', 'TypeScript', 'accessibility', 'design systems'] },
  { role: 'Data Analyst', skills: ['SQL', 'dbt', 'forecasting', 'Power BI'] },
  { role: 'Site Reliability Engineer', skills: ['Kubernetes', 'Terraform', 'incident response'] },
  { role: 'Product Designer', skills: ['user research', 'prototyping', 'Figma'] },
  { role: 'Product Manager', skills: ['discovery', 'pricing', 'B2B SaaS'] },
  { role: 'Registered Nurse', skills: ['intensive care', 'paediatrics', 'night shifts'] },
  { role: 'Warehouse Supervisor', skills: ['inventory', 'safety', 'forklift licence'] },
  { role: 'Payroll Specialist', skills: ['multi-country payroll', 'SAP', 'audits'] },
  { role: 'Account Executive', skills: ['enterprise sales', 'CRM', 'negotiation'] },
  { role: 'Customer Support Agent', skills: ['French', 'Spanish', 'Zendesk'] },
  { role: 'Chef de Partie', skills: ['pâtisserie', 'sauces', 'menu planning'] }
]

export const levels: readonly string[] = ['Junior', 'Senior', 'Lead', 'Freelance']
