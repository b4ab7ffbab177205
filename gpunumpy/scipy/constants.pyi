# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

Avogadro: float
Boltzmann: float
Btu: float
Btu_IT: float
Btu_th: float

class ConstantWarning(Warning): ...

G: float
Julian_year: float
N_A: float
Planck: float
R: float
Rydberg: float
Stefan_Boltzmann: float
Wien: float
acre: float
alpha: float
angstrom: float
arcmin: float
arcminute: float
arcsec: float
arcsecond: float
astronomical_unit: float
atm: float
atmosphere: float
atomic_mass: float
atto: float
au: float
bar: float
barrel: float
bbl: float
blob: float
c: float
calorie: float
calorie_IT: float
calorie_th: float
carat: float
centi: float

def convert_temperature(val: Any, old_scale: Any, new_scale: Any) -> Any: ...

day: float
deci: float
degree: float
degree_Fahrenheit: float
deka: float
dyn: float
dyne: float
e: float
eV: float
electron_mass: float
electron_volt: float
elementary_charge: float
epsilon_0: float
erg: float
exa: float
exbi: int
femto: float
fermi: float

def find(sub: Any = None, disp: Any = False) -> Any: ...

fine_structure: float
fluid_ounce: float
fluid_ounce_US: float
fluid_ounce_imp: float
foot: float
g: float
gallon: float
gallon_US: float
gallon_imp: float
gas_constant: float
gibi: int
giga: float
golden: float
golden_ratio: float
grain: float
gram: float
gravitational_constant: float
h: float
hbar: float
hectare: float
hecto: float
horsepower: float
hour: float
hp: float
inch: float
k: float
kgf: float
kibi: int
kilo: float
kilogram_force: float
kmh: float
knot: float

def lambda2nu(lambda_: Any) -> Any: ...

lb: float
lbf: float
light_year: float
liter: float
litre: float
long_ton: float
m_e: float
m_n: float
m_p: float
m_u: float
mach: float
mebi: int
mega: float
metric_ton: float
micro: float
micron: float
mil: float
mile: float
milli: float
minute: float
mmHg: float
mph: float
mu_0: float
nano: float
nautical_mile: float
neutron_mass: float

def nu2lambda(nu: Any) -> Any: ...

ounce: float
oz: float
parsec: float
pebi: int
peta: float
physical_constants: Any
pi: float
pico: float
point: float
pound: float
pound_force: float

def precision(key: Any) -> Any: ...

proton_mass: float
psi: float
pt: float
quecto: float
quetta: float
ronna: float
ronto: float
short_ton: float
sigma: float
slinch: float
slug: float
speed_of_light: float
speed_of_sound: float
stone: float
survey_foot: float
survey_mile: float
tebi: int
tera: float
ton_TNT: float
torr: float
troy_ounce: float
troy_pound: float
u: float

def unit(key: Any) -> Any: ...
def value(key: Any) -> Any: ...

week: float
yard: float
year: float
yobi: int
yocto: float
yotta: float
zebi: int
zepto: float
zero_Celsius: float
zetta: float
__all__ = [
    "Avogadro",
    "Boltzmann",
    "Btu",
    "Btu_IT",
    "Btu_th",
    "ConstantWarning",
    "G",
    "Julian_year",
    "N_A",
    "Planck",
    "R",
    "Rydberg",
    "Stefan_Boltzmann",
    "Wien",
    "acre",
    "alpha",
    "angstrom",
    "arcmin",
    "arcminute",
    "arcsec",
    "arcsecond",
    "astronomical_unit",
    "atm",
    "atmosphere",
    "atomic_mass",
    "atto",
    "au",
    "bar",
    "barrel",
    "bbl",
    "blob",
    "c",
    "calorie",
    "calorie_IT",
    "calorie_th",
    "carat",
    "centi",
    "convert_temperature",
    "day",
    "deci",
    "degree",
    "degree_Fahrenheit",
    "deka",
    "dyn",
    "dyne",
    "e",
    "eV",
    "electron_mass",
    "electron_volt",
    "elementary_charge",
    "epsilon_0",
    "erg",
    "exa",
    "exbi",
    "femto",
    "fermi",
    "find",
    "fine_structure",
    "fluid_ounce",
    "fluid_ounce_US",
    "fluid_ounce_imp",
    "foot",
    "g",
    "gallon",
    "gallon_US",
    "gallon_imp",
    "gas_constant",
    "gibi",
    "giga",
    "golden",
    "golden_ratio",
    "grain",
    "gram",
    "gravitational_constant",
    "h",
    "hbar",
    "hectare",
    "hecto",
    "horsepower",
    "hour",
    "hp",
    "inch",
    "k",
    "kgf",
    "kibi",
    "kilo",
    "kilogram_force",
    "kmh",
    "knot",
    "lambda2nu",
    "lb",
    "lbf",
    "light_year",
    "liter",
    "litre",
    "long_ton",
    "m_e",
    "m_n",
    "m_p",
    "m_u",
    "mach",
    "mebi",
    "mega",
    "metric_ton",
    "micro",
    "micron",
    "mil",
    "mile",
    "milli",
    "minute",
    "mmHg",
    "mph",
    "mu_0",
    "nano",
    "nautical_mile",
    "neutron_mass",
    "nu2lambda",
    "ounce",
    "oz",
    "parsec",
    "pebi",
    "peta",
    "physical_constants",
    "pi",
    "pico",
    "point",
    "pound",
    "pound_force",
    "precision",
    "proton_mass",
    "psi",
    "pt",
    "quecto",
    "quetta",
    "ronna",
    "ronto",
    "short_ton",
    "sigma",
    "slinch",
    "slug",
    "speed_of_light",
    "speed_of_sound",
    "stone",
    "survey_foot",
    "survey_mile",
    "tebi",
    "tera",
    "ton_TNT",
    "torr",
    "troy_ounce",
    "troy_pound",
    "u",
    "unit",
    "value",
    "week",
    "yard",
    "year",
    "yobi",
    "yocto",
    "yotta",
    "zebi",
    "zepto",
    "zero_Celsius",
    "zetta",
]
