"""A table of measurements with pandas: made of arrays and of their results, grouped, and written as CSV."""

import numpy as np
import pandas as pd

generator = np.random.default_rng(7)
day = np.arange(60)
temperature = 15 + 8 * np.sin(2 * np.pi * day / 30) + generator.normal(size=60).round(2)
frame = pd.DataFrame({"day": day, "temperature": temperature, "station": np.where(day % 3 == 0, "north", "south")})
print(frame.head())
frame.loc[temperature < 10, "station"] = "cold"
print(frame.groupby("station")["temperature"].mean().round(3))
warm = frame[np.asarray(frame["temperature"]) > 18]
print(len(warm), "warm days; the first:", warm["day"].to_numpy()[:5])
print(isinstance(frame["day"].values, np.ndarray), np.log(frame["temperature"]).round(3).head(3).tolist())
frame["anomaly"] = temperature - temperature.mean()
print(frame["anomaly"].groupby(day // 20).max().round(3).tolist(), pd.unique(day % 4), pd.factorize(day % 3)[1])
weeks = temperature[:56].reshape(8, 7)
rows = [{"week": k, "mean": week.mean().round(3), "range": np.ptp(week).round(3)} for k, week in enumerate(weeks)]
summary = pd.DataFrame(rows)
summary["largest"] = [week.max() for week in weeks]
print(summary.dtypes, summary.describe().round(3), pd.Series([week.argmax() for week in weeks]).sum())
print(pd.DataFrame({"mean": [week.mean() for week in weeks], "std": tuple(week.std() for week in weeks)}).round(3))
frame.round(6).to_csv("stations.csv", index=False)
print(pd.read_csv("stations.csv").describe().round(3))
